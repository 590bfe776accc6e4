package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// Operators on whole vectors of integers (and what is kept like them: dates, times, booleans).
///
/// Comparisons cannot fail, so they run over all rows of the batch without looking at the selection; arithmetic can overflow and looks at
/// live, non-null rows only where a result was out of range.
final class WordKernels {
  /// Comparisons, as PostgreSQL names them.
  enum Comparison {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE;

    static @Nullable Comparison of(String name) {
      return switch (name) {
        case "=" -> EQ;
        case "<>" -> NE;
        case "<" -> LT;
        case "<=" -> LE;
        case ">" -> GT;
        case ">=" -> GE;
        default -> null;
      };
    }

    /// The same comparison with its sides exchanged.
    Comparison mirrored() {
      return switch (this) {
        case EQ, NE -> this;
        case LT -> GT;
        case LE -> GE;
        case GT -> LT;
        case GE -> LE;
      };
    }

    boolean holds(long a, long b) {
      return switch (this) {
        case EQ -> a == b;
        case NE -> a != b;
        case LT -> a < b;
        case LE -> a <= b;
        case GT -> a > b;
        case GE -> a >= b;
      };
    }
  }

  private WordKernels() {}

  static @Nullable Evaluator find(ScalarFunction function, Evaluator[] arguments) {
    if (arguments.length != 2 || !function.strict()) {
      return null;
    }
    int left = function.argumentOids()[0];
    int right = function.argumentOids()[1];
    @Nullable Comparison comparison = Comparison.of(function.name());
    if (comparison != null && comparesWords(left, right)) {
      return new Compare(comparison, arguments[0], arguments[1]);
    }
    if (isInteger(left) && isInteger(right)) {
      return Arithmetic.find(function, arguments);
    }
    return null;
  }

  /// Whether values of the two types are compared by comparing words as signed integers.
  static boolean comparesWords(int left, int right) {
    return (left == right && Types.kind(left) == ColumnKind.INTEGER)
        || (isInteger(left) && isInteger(right));
  }

  private static boolean isInteger(int oid) {
    return oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8;
  }

  private static final class Compare extends Evaluator {
    private final Comparison comparison;
    private final Evaluator left;
    private final Evaluator right;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    Compare(Comparison comparison, Evaluator left, Evaluator right) {
      this.comparison = comparison;
      this.left = left;
      this.right = right;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector a = left.evaluate(batch);
      ColumnVector b = right.evaluate(batch);
      CallEvaluators.uniteNulls(a, b, out, batch.size);
      long[] x = a.words;
      long[] y = b.words;
      long[] z = out.words;
      int size = batch.size;
      switch (comparison) {
        case EQ -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] == y[i] ? 1 : 0;
          }
        }
        case NE -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] != y[i] ? 1 : 0;
          }
        }
        case LT -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] < y[i] ? 1 : 0;
          }
        }
        case LE -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] <= y[i] ? 1 : 0;
          }
        }
        case GT -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] > y[i] ? 1 : 0;
          }
        }
        case GE -> {
          for (int i = 0; i < size; i++) {
            z[i] = x[i] >= y[i] ? 1 : 0;
          }
        }
      }
      return out;
    }
  }

  /// `+`, `-` and `*` of integers with a check of the result's range. A row that fails is computed again by the function itself, which
  /// knows the error.
  private static final class Arithmetic extends Evaluator {
    private static final int ADD = 0;
    private static final int SUBTRACT = 1;
    private static final int MULTIPLY = 2;

    private final ScalarFunction function;
    private final int operation;
    private final long min;
    private final long max;
    private final Evaluator left;
    private final Evaluator right;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private final long[] words = new long[2];

    private Arithmetic(
        ScalarFunction function,
        int operation,
        long min,
        long max,
        Evaluator left,
        Evaluator right) {
      this.function = function;
      this.operation = operation;
      this.min = min;
      this.max = max;
      this.left = left;
      this.right = right;
    }

    static @Nullable Evaluator find(ScalarFunction function, Evaluator[] arguments) {
      int operation =
          switch (function.name()) {
            case "+" -> ADD;
            case "-" -> SUBTRACT;
            case "*" -> MULTIPLY;
            default -> -1;
          };
      if (operation < 0) {
        return null;
      }
      int result = function.resultOid();
      long max =
          result == TypeOid.INT2
              ? Short.MAX_VALUE
              : result == TypeOid.INT4 ? Integer.MAX_VALUE : Long.MAX_VALUE;
      return new Arithmetic(function, operation, -max - 1, max, arguments[0], arguments[1]);
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector a = left.evaluate(batch);
      ColumnVector b = right.evaluate(batch);
      CallEvaluators.uniteNulls(a, b, out, batch.size);
      if (!compute(a.words, b.words, out.words, batch.size)) {
        findFailure(a, b, batch);
      }
      return out;
    }

    /// False if any result, of a live row or not, was out of range.
    private boolean compute(long[] x, long[] y, long[] z, int size) {
      long bad = 0;
      switch (operation) {
        case ADD -> {
          for (int i = 0; i < size; i++) {
            long r = x[i] + y[i];
            bad |= ((x[i] ^ r) & (y[i] ^ r)) | outside(r);
            z[i] = r;
          }
        }
        case SUBTRACT -> {
          for (int i = 0; i < size; i++) {
            long r = x[i] - y[i];
            bad |= ((x[i] ^ y[i]) & (x[i] ^ r)) | outside(r);
            z[i] = r;
          }
        }
        default -> {
          for (int i = 0; i < size; i++) {
            long r = x[i] * y[i];
            bad |= (Math.multiplyHigh(x[i], y[i]) ^ (r >> 63)) != 0 ? -1L : outside(r);
            z[i] = r;
          }
        }
      }
      return bad >= 0;
    }

    private long outside(long r) {
      return r < min || r > max ? -1L : 0;
    }

    private void findFailure(ColumnVector a, ColumnVector b, VectorBatch batch) {
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        if (!out.isNull(row)) {
          words[0] = a.words[row];
          words[1] = b.words[row];
          out.words[row] = function.body().apply(words, 0, new FunctionContext(batch.heap, 0, 0));
        }
      }
    }
  }
}
