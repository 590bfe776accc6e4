package dev.kakehashi.applications.function;

import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/// Strict functions whose values are words, without any objects. Used by one task at a time.
abstract sealed class WordScalar implements ScalarCode {
  /// Rows between two looks at whether it is to stop; short enough to be quick, long enough for the loop to be compiled well.
  private static final int STRIDE = 128;

  final FunctionRun run;

  /// Results of a batch: the caller's belong to columns, into which a batch that was given up must not write.
  private long[] longs = {};

  private double[] doubles = {};

  WordScalar(FunctionRun run) {
    this.run = run;
  }

  final long[] longs(int count) {
    if (longs.length < count) {
      longs = new long[count];
    }
    return longs;
  }

  final double[] doubles(int count) {
    if (doubles.length < count) {
      doubles = new double[count];
    }
    return doubles;
  }

  @Override
  public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
    throw new UnsupportedOperationException("call");
  }

  @Override
  public void callLongs(long[][] arguments, long[] results, int count) {
    throw new UnsupportedOperationException("callLongs");
  }

  @Override
  public void callDoubles(double[][] arguments, double[] results, int count) {
    throw new UnsupportedOperationException("callDoubles");
  }

  /// Function of one bigint.
  static final class OfLong extends WordScalar {
    private final LongUnaryOperator body;

    OfLong(FunctionRun run, LongUnaryOperator body) {
      super(run);
      this.body = body;
    }

    @Override
    public Form form() {
      return Form.LONGS;
    }

    @Override
    public void callLongs(long[][] arguments, long[] results, int count) {
      long[] column = arguments[0];
      long[] own =
          run.call(
              count,
              () -> {
                long[] mine = longs(count);
                for (int from = 0; from < count; from += STRIDE) {
                  run.check();
                  int to = Math.min(count, from + STRIDE);
                  for (int i = from; i < to; i++) {
                    mine[i] = body.applyAsLong(column[i]);
                  }
                }
                return mine;
              });
      System.arraycopy(own, 0, results, 0, count);
    }
  }

  /// Function of two bigint.
  static final class OfTwoLongs extends WordScalar {
    private final LongBinaryOperator body;

    OfTwoLongs(FunctionRun run, LongBinaryOperator body) {
      super(run);
      this.body = body;
    }

    @Override
    public Form form() {
      return Form.LONGS;
    }

    @Override
    public void callLongs(long[][] arguments, long[] results, int count) {
      long[] left = arguments[0];
      long[] right = arguments[1];
      long[] own =
          run.call(
              count,
              () -> {
                long[] mine = longs(count);
                for (int from = 0; from < count; from += STRIDE) {
                  run.check();
                  int to = Math.min(count, from + STRIDE);
                  for (int i = from; i < to; i++) {
                    mine[i] = body.applyAsLong(left[i], right[i]);
                  }
                }
                return mine;
              });
      System.arraycopy(own, 0, results, 0, count);
    }
  }

  /// Function of one double precision.
  static final class OfDouble extends WordScalar {
    private final DoubleUnaryOperator body;

    OfDouble(FunctionRun run, DoubleUnaryOperator body) {
      super(run);
      this.body = body;
    }

    @Override
    public Form form() {
      return Form.DOUBLES;
    }

    @Override
    public void callDoubles(double[][] arguments, double[] results, int count) {
      double[] column = arguments[0];
      double[] own =
          run.call(
              count,
              () -> {
                double[] mine = doubles(count);
                for (int from = 0; from < count; from += STRIDE) {
                  run.check();
                  int to = Math.min(count, from + STRIDE);
                  for (int i = from; i < to; i++) {
                    mine[i] = body.applyAsDouble(column[i]);
                  }
                }
                return mine;
              });
      System.arraycopy(own, 0, results, 0, count);
    }
  }

  /// Function of two double precision.
  static final class OfTwoDoubles extends WordScalar {
    private final DoubleBinaryOperator body;

    OfTwoDoubles(FunctionRun run, DoubleBinaryOperator body) {
      super(run);
      this.body = body;
    }

    @Override
    public Form form() {
      return Form.DOUBLES;
    }

    @Override
    public void callDoubles(double[][] arguments, double[] results, int count) {
      double[] left = arguments[0];
      double[] right = arguments[1];
      double[] own =
          run.call(
              count,
              () -> {
                double[] mine = doubles(count);
                for (int from = 0; from < count; from += STRIDE) {
                  run.check();
                  int to = Math.min(count, from + STRIDE);
                  for (int i = from; i < to; i++) {
                    mine[i] = body.applyAsDouble(left[i], right[i]);
                  }
                }
                return mine;
              });
      System.arraycopy(own, 0, results, 0, count);
    }
  }
}
