package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// A value known when the statement is planned.
///
/// @param isNull whether it is null; then `word` is 0
/// @param word its word; a by-reference value lies in `memory` and lives as long as this object
/// @param memory holds a by-reference value, or null
public record Constant(SqlType type, boolean isNull, long word, @Nullable MemorySegment memory) {
  public static Constant ofNull(SqlType type) {
    return new Constant(type, true, 0, null);
  }

  /// Takes a value; a by-reference one is copied.
  public static Constant of(SqlType type, long word) {
    ColumnKind kind = Types.kind(type.oid());
    if (!kind.byReference()) {
      return new Constant(type, false, word, null);
    }
    long bytes = byteLength(kind, word);
    MemorySegment memory = Arena.ofAuto().allocate((bytes + 7) & ~7L, 8);
    MemorySegment.copy(VarHeap.MEMORY, word, memory, 0, bytes);
    return new Constant(type, false, memory.address(), memory);
  }

  /// The constant that an expression is, or null.
  public static @Nullable Constant of(RexNode node) {
    return node instanceof RexCall call
            && call.getOperator() instanceof PgOperators.ConstantOperator operator
        ? operator.constant
        : null;
  }

  public static Constant ofText(int oid, String value) {
    try (VarHeap heap = new VarHeap()) {
      return of(SqlType.of(oid), Varlena.of(heap, value));
    }
  }

  /// Bytes of a by-reference value.
  public static long byteLength(ColumnKind kind, long word) {
    return Values.byteLength(kind, word);
  }

  /// The text of a constant of a string type.
  public String text() {
    return Varlena.string(word);
  }

  /// Tells two constants apart in plans.
  String digest() {
    if (isNull) {
      return "null:" + type.oid() + ":" + type.typeModifier();
    }
    MemorySegment held = memory;
    if (held == null) {
      return word + ":" + type.oid();
    }
    ColumnKind kind = Types.kind(type.oid());
    if (kind.stored() == ColumnKind.VARLENA || kind == ColumnKind.BPCHAR) {
      return "'" + text() + "':" + type.oid() + ":" + type.typeModifier();
    }
    StringBuilder hex = new StringBuilder();
    long bytes = byteLength(kind, word);
    for (long i = 0; i < bytes; i++) {
      hex.append(String.format("%02x", held.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i)));
    }
    return hex + ":" + type.oid();
  }
}
