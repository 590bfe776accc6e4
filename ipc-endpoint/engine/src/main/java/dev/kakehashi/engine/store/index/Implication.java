package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.IndexCondition.Operator;
import dev.kakehashi.engine.vector.VarHeap;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// Whether a row that fulfils one condition fulfils another, as far as PostgreSQL's planner sees that: it compares the values, and knows
/// nothing of values between them.
public final class Implication {
  private Implication() {}

  /// @param kind of the column of both
  public static boolean implies(IndexCondition given, IndexCondition wanted, ColumnKind kind) {
    if (wanted.column() != given.column()) {
      return false;
    }
    if (wanted.operator() == Operator.IS_NOT_NULL) {
      return given.operator() != Operator.IS_NULL;
    }
    ByteBuffer value = given.value();
    ByteBuffer limit = wanted.value();
    if (value == null || limit == null) {
      return wanted.operator() == given.operator();
    }
    return implies(
        given.operator(),
        wanted.operator(),
        Arrays.compareUnsigned(key(kind, value), key(kind, limit)));
  }

  /// @param order of the given value: less than, equal to or greater than the wanted one
  private static boolean implies(Operator given, Operator wanted, int order) {
    return switch (wanted) {
      case EQUAL -> given == Operator.EQUAL && order == 0;
      case NOT_EQUAL ->
          switch (given) {
            case EQUAL -> order != 0;
            case NOT_EQUAL -> order == 0;
            case LESS -> order <= 0;
            case LESS_OR_EQUAL -> order < 0;
            case GREATER -> order >= 0;
            case GREATER_OR_EQUAL -> order > 0;
            case IS_NULL, IS_NOT_NULL -> false;
          };
      case LESS, LESS_OR_EQUAL ->
          isBelow(given, wanted, Operator.LESS, Operator.LESS_OR_EQUAL, order);
      case GREATER, GREATER_OR_EQUAL ->
          isBelow(given, wanted, Operator.GREATER, Operator.GREATER_OR_EQUAL, -order);
      case IS_NULL, IS_NOT_NULL -> false;
    };
  }

  /// Whether what is given keeps the column on this side of the value.
  ///
  /// @param order of the given value, below zero on this side
  private static boolean isBelow(
      Operator given, Operator wanted, Operator strict, Operator inclusive, int order) {
    if (order == 0 && wanted == strict) {
      return given == strict;
    }
    return order <= 0 && (given == strict || given == inclusive || given == Operator.EQUAL);
  }

  /// A value as keys of indexes have it, which are compared byte by byte.
  private static byte[] key(ColumnKind kind, ByteBuffer value) {
    try (VarHeap heap = new VarHeap()) {
      KeyBuffer encoded = new KeyBuffer(32);
      KeyCodec.appendStoredValue(
          encoded, kind, ValueCodec.decodeValue(kind, value.duplicate(), heap::allocate));
      return Arrays.copyOf(encoded.bytes, encoded.length);
    }
  }
}
