package dev.kakehashi.engine.store.api;

import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// Condition that a column fulfils if its row is in a partial index. A comparison with null is not true.
///
/// @param column position in the table
/// @param operator the column is on its left side
/// @param value what is compared with, as [dev.kakehashi.engine.store.index.ValueCodec#value] has it for the column's kind; null for those
///     that ask for null. It is never read itself, only duplicates.
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
}
