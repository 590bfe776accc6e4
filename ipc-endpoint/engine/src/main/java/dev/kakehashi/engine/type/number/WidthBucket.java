package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;

/// width_bucket(): the bucket of a histogram of equal widths, 0 below it and `count + 1` above it; the bounds may descend.
public final class WidthBucket {
  private WidthBucket() {}

  static long of(double operand, double low, double high, long count) {
    check(count, Double.isNaN(operand) || Double.isNaN(low) || Double.isNaN(high));
    if (Double.isInfinite(low) || Double.isInfinite(high)) {
      throw invalid("lower and upper bounds must be finite");
    }
    if (low == high) {
      throw invalid("lower bound cannot equal upper bound");
    }
    boolean ascending = low < high;
    if (ascending ? operand < low : operand > low) {
      return 0;
    }
    if (ascending ? operand >= high : operand <= high) {
      return beyond(count);
    }
    double width = high - low;
    double part =
        Double.isInfinite(width)
            ? (operand / 2 - low / 2) / (high / 2 - low / 2)
            : (operand - low) / width;
    // The quotient could be rounded to 1, which would be a bucket too far.
    return Math.min((long) (count * part), count - 1) + 1;
  }

  /// @throws EngineException INVALID_ARGUMENT_FOR_WIDTH_BUCKET
  public static void check(long count, boolean anyNaN) {
    if (count <= 0) {
      throw invalid("count must be greater than zero");
    }
    if (anyNaN) {
      throw invalid("operand, lower bound, and upper bound cannot be NaN");
    }
  }

  /// The bucket above the last one.
  public static long beyond(long count) {
    if (count == Integer.MAX_VALUE) {
      throw SqlErrors.outOfRange("integer");
    }
    return count + 1;
  }

  public static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message);
  }
}
