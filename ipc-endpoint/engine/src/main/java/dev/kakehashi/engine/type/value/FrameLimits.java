package dev.kakehashi.engine.type.value;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.FLOAT4;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT2;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TIME;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.numeric.Numerics;
import dev.kakehashi.engine.type.time.Intervals;
import org.jspecify.annotations.Nullable;

/// Limits of RANGE frames whose key plus or minus an offset may leave the key's type: PostgreSQL takes them as beyond all values there.
///
/// Functions that only plans call. Keys of other types are moved by their operators `+` and `-`.
public final class FrameLimits {
  private FrameLimits() {}

  /// The type as which keys of a type are moved and compared; that of the offset, too, but for time. Null: the operators do it.
  public static @Nullable Integer comparedOid(int keyOid) {
    return switch (keyOid) {
      case INT2, INT4, INT8 -> (Integer) INT8;
      case FLOAT4, FLOAT8 -> (Integer) FLOAT8;
      case NUMERIC, TIME -> (Integer) keyOid;
      default -> null;
    };
  }

  /// The type of offsets of keys that are compared as of `comparedOid`.
  public static int offsetOid(int comparedOid) {
    return comparedOid == TIME ? INTERVAL : comparedOid;
  }

  /// The greatest or least value of a frame, of key and offset; null: beyond all values, on the side of the bound.
  ///
  /// @param minus whether the offset is subtracted
  /// @param preceding whether the bound is before the current row
  /// @param start whether it is the frame's first bound
  public static ScalarFunction limit(
      int comparedOid, boolean minus, boolean preceding, boolean start) {
    // Infinity moved by infinity: every number belongs to the frame.
    boolean outermost = start == preceding;
    ScalarFunction.Body body =
        switch (comparedOid) {
          case INT8 -> (a, _, context) -> moved(a[0], a[1], minus, context);
          // Beyond the day's end, too; no more than the time of the interval counts.
          case TIME -> (a, _, context) -> moved(a[0], Intervals.micros(a[1]), minus, context);
          case FLOAT8 ->
              (a, _, _) ->
                  FloatMath.word(
                      moved(FloatMath.ofWord8(a[0]), FloatMath.ofWord8(a[1]), minus, outermost));
          case NUMERIC ->
              (a, _, context) -> {
                long sum =
                    minus
                        ? Numerics.subtract(a[0], a[1], context.heap)
                        : Numerics.add(a[0], a[1], context.heap);
                if (!NumericForm.isNan(sum) || NumericForm.isNan(a[0])) {
                  return sum;
                }
                return outermost ? NumericForm.infinity(context.heap, minus) : a[0];
              };
          default -> throw new IllegalArgumentException("type " + comparedOid);
        };
    return new ScalarFunction(
        "frame_limit",
        new int[] {comparedOid, offsetOid(comparedOid)},
        comparedOid,
        true,
        true,
        new ScalarFunction.Body() {
          @Override
          public long apply(long[] arguments, long nulls, FunctionContext context) {
            return body.apply(arguments, nulls, context);
          }

          @Override
          public boolean mayGiveNull() {
            return true;
          }

          @Override
          public String identity() {
            return minus + ":" + outermost;
          }
        });
  }

  private static long moved(long key, long offset, boolean minus, FunctionContext context) {
    long sum = minus ? key - offset : key + offset;
    // The offset is not negative.
    if (minus ? sum > key : sum < key) {
      context.resultIsNull = true;
      return 0;
    }
    return sum;
  }

  private static double moved(double key, double offset, boolean minus, boolean outermost) {
    double sum = minus ? key - offset : key + offset;
    if (!Double.isNaN(sum) || Double.isNaN(key)) {
      return sum;
    }
    return !outermost ? key : minus ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
  }

  /// Whether an offset is refused because it is negative, or no number.
  public static ScalarFunction refused(int comparedOid) {
    ScalarFunction.Body body =
        switch (comparedOid) {
          case INT8 -> (a, _, _) -> a[0] < 0 ? 1 : 0;
          case TIME -> (a, _, _) -> Intervals.micros(a[0]) < 0 ? 1 : 0;
          case FLOAT8 -> (a, _, _) -> FloatMath.ofWord8(a[0]) >= 0 ? 0 : 1;
          case NUMERIC ->
              (a, _, _) -> NumericForm.isNan(a[0]) || NumericForm.sign(a[0]) < 0 ? 1 : 0;
          default -> throw new IllegalArgumentException("type " + comparedOid);
        };
    return new ScalarFunction(
        "frame_offset_refused", new int[] {offsetOid(comparedOid)}, BOOL, true, true, body);
  }
}
