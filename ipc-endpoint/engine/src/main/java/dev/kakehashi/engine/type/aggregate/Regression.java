package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.vector.ColumnVector;

/// Aggregates of pairs (y, x) of double precision: covariances, correlation and the line of least squares, from count, sums and sums of
/// products of differences (Youngs and Cramer 1971, as PostgreSQL does). Pairs with a null are skipped.
final class Regression extends StateAccumulator<Regression.State> {
  /// Bytes of a state with its header and its place in the list.
  private static final int STATE_BYTES = 72;

  /// Statistic that is computed.
  enum Statistic {
    COUNT,
    SUM_OF_SQUARES_X,
    SUM_OF_SQUARES_Y,
    SUM_OF_PRODUCTS,
    AVERAGE_X,
    AVERAGE_Y,
    COVARIANCE_POPULATION,
    COVARIANCE_SAMPLE,
    CORRELATION,
    DETERMINATION,
    SLOPE,
    INTERCEPT
  }

  /// A group's pairs so far. `xx`, `yy` and `xy` are sums of products of differences from the averages.
  static final class State {
    double count;
    double x;
    double xx;
    double y;
    double yy;
    double xy;

    void add(double newY, double newX) {
      double before = count;
      double oldX = x;
      double oldY = y;
      count = before + 1;
      x = oldX + newX;
      y = oldY + newY;
      if (before == 0) {
        first(newY, newX);
        return;
      }
      double dx = newX * count - x;
      double dy = newY * count - y;
      double scale = 1 / (count * before);
      xx += dx * dx * scale;
      yy += dy * dy * scale;
      xy += dx * dy * scale;
      boolean finiteX = !Double.isInfinite(oldX) && !Double.isInfinite(newX);
      boolean finiteY = !Double.isInfinite(oldY) && !Double.isInfinite(newY);
      if ((finiteX && (Double.isInfinite(x) || Double.isInfinite(xx)))
          || (finiteY && (Double.isInfinite(y) || Double.isInfinite(yy)))
          || (finiteX && finiteY && Double.isInfinite(xy))) {
        throw SqlErrors.floatOverflow();
      }
      xx = Double.isInfinite(xx) ? Double.NaN : xx;
      yy = Double.isInfinite(yy) ? Double.NaN : yy;
      xy = Double.isInfinite(xy) ? Double.NaN : xy;
    }

    private void first(double newY, double newX) {
      if (!Double.isFinite(newX)) {
        xx = Double.NaN;
        xy = Double.NaN;
      }
      if (!Double.isFinite(newY)) {
        yy = Double.NaN;
        xy = Double.NaN;
      }
    }

    void merge(State more) {
      if (more.count == 0) {
        return;
      }
      double all = count + more.count;
      if (count == 0) {
        x = more.x;
        xx = more.xx;
        y = more.y;
        yy = more.yy;
        xy = more.xy;
      } else {
        double dx = x / count - more.x / more.count;
        double dy = y / count - more.y / more.count;
        double weight = count * more.count;
        x = FloatMath.add(x, more.x);
        xx = sum(xx, more.xx, weight * dx * dx / all);
        y = FloatMath.add(y, more.y);
        yy = sum(yy, more.yy, weight * dy * dy / all);
        xy = sum(xy, more.xy, weight * dx * dy / all);
      }
      count = all;
    }

    private static double sum(double a, double b, double between) {
      double sum = a + b + between;
      if (Double.isInfinite(sum) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
        throw SqlErrors.floatOverflow();
      }
      return sum;
    }
  }

  private final Statistic statistic;

  Regression(Statistic statistic) {
    this.statistic = statistic;
  }

  @Override
  State newState() {
    return new State();
  }

  @Override
  void add(ColumnVector[] arguments, int row, State state) {
    if (arguments[0].isNull(row) || arguments[1].isNull(row)) {
      return;
    }
    if (statistic == Statistic.COUNT) {
      state.count++;
    } else {
      state.add(
          FloatMath.ofWord8(arguments[0].words[row]), FloatMath.ofWord8(arguments[1].words[row]));
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    Regression theirs = (Regression) other;
    for (int i = 0; i < count; i++) {
      State more = theirs.present(i);
      if (more != null) {
        state(groups[i]).merge(more);
      }
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    State state = state(group);
    if (statistic == Statistic.COUNT) {
      out.words[row] = (long) state.count;
    } else if (isDefined(state)) {
      out.words[row] = FloatMath.word(value(state));
    } else {
      out.setNull(row);
    }
  }

  private boolean isDefined(State state) {
    return switch (statistic) {
      case COVARIANCE_SAMPLE -> state.count >= 2;
      case CORRELATION -> state.count >= 1 && state.xx != 0 && state.yy != 0;
      case DETERMINATION, SLOPE, INTERCEPT -> state.count >= 1 && state.xx != 0;
      default -> state.count >= 1;
    };
  }

  private double value(State state) {
    return switch (statistic) {
      case COUNT -> state.count;
      case SUM_OF_SQUARES_X -> state.xx;
      case SUM_OF_SQUARES_Y -> state.yy;
      case SUM_OF_PRODUCTS -> state.xy;
      case AVERAGE_X -> state.x / state.count;
      case AVERAGE_Y -> state.y / state.count;
      case COVARIANCE_POPULATION -> state.xy / state.count;
      case COVARIANCE_SAMPLE -> state.xy / (state.count - 1);
      case CORRELATION -> state.xy / Math.sqrt(state.xx * state.yy);
      case DETERMINATION -> state.yy == 0 ? 1 : (state.xy * state.xy) / (state.xx * state.yy);
      case SLOPE -> state.xy / state.xx;
      case INTERCEPT -> (state.y - state.x * state.xy / state.xx) / state.count;
    };
  }

  @Override
  public long memoryBytes() {
    return (long) STATE_BYTES * stateCount();
  }
}
