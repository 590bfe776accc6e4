package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.KeyCodec;
import dev.kakehashi.engine.vector.VarHeap;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// What a column has to fulfil for its row to be in a partial index. A comparison with null is not true.
///
/// @param column position in the table
/// @param operator the column is on its left side
/// @param value what is compared with, as [RowCodec#value] has it for the column's kind; null for those that ask for null. It is never read itself, only duplicates.
public record IndexCondition(int column, Operator operator, @Nullable ByteBuffer value) {
  /// Kept by name in the durable image.
  public enum Operator {
    IS_NULL,
    IS_NOT_NULL,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL;

    /// The same comparison with its sides exchanged.
    public Operator mirrored() {
      return switch (this) {
        case LESS -> GREATER;
        case LESS_OR_EQUAL -> GREATER_OR_EQUAL;
        case GREATER -> LESS;
        case GREATER_OR_EQUAL -> LESS_OR_EQUAL;
        default -> this;
      };
    }
  }

  /// The same condition on a column at another position.
  public IndexCondition moved(IntUnaryOperator newPosition) {
    return new IndexCondition(newPosition.applyAsInt(column), operator, value);
  }

  /// Whether a row that fulfils another condition fulfils this one, as far as PostgreSQL's planner sees that: it compares the values, and knows nothing of values between them.
  ///
  /// @param kind of the column of both
  public boolean isImpliedBy(IndexCondition other, ColumnKind kind) {
    if (column != other.column) {
      return false;
    }
    if (operator == Operator.IS_NOT_NULL) {
      return other.operator != Operator.IS_NULL;
    }
    ByteBuffer given = other.value;
    ByteBuffer wanted = value;
    if (given == null || wanted == null) {
      return operator == other.operator;
    }
    return isImpliedBy(other.operator, Arrays.compareUnsigned(key(kind, given), key(kind, wanted)));
  }

  /// @param order of the given value: less than, equal to or greater than this one
  private boolean isImpliedBy(Operator given, int order) {
    return switch (operator) {
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
      case LESS, LESS_OR_EQUAL -> isBelow(given, Operator.LESS, Operator.LESS_OR_EQUAL, order);
      case GREATER, GREATER_OR_EQUAL ->
          isBelow(given, Operator.GREATER, Operator.GREATER_OR_EQUAL, -order);
      case IS_NULL, IS_NOT_NULL -> false;
    };
  }

  /// Whether what is given keeps the column on this side of the value.
  ///
  /// @param order of the given value, below zero on this side
  private boolean isBelow(Operator given, Operator strict, Operator inclusive, int order) {
    if (order == 0 && operator == strict) {
      return given == strict;
    }
    return order <= 0 && (given == strict || given == inclusive || given == Operator.EQUAL);
  }

  /// A value as keys of indexes have it, which are compared byte by byte.
  private static byte[] key(ColumnKind kind, ByteBuffer value) {
    try (VarHeap heap = new VarHeap()) {
      KeyBuffer encoded = new KeyBuffer(32);
      KeyCodec.appendValue(
          encoded, kind, RowCodec.decodeValue(kind, value.duplicate(), heap::allocate));
      return Arrays.copyOf(encoded.bytes, encoded.length);
    }
  }
}
