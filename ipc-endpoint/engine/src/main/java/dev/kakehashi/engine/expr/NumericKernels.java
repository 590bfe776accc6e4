package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.NumericWord;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// Comparisons of numerics, and `+`, `-` and `*`, on words as they are in the store: nothing is made in memory while numbers are short.
///
/// Their arguments may be columns whose values are [dev.kakehashi.engine.vector.DeferredValues], constants, and results of such operators.
/// Longer numbers go to the function itself, in memory.
final class NumericKernels {
  /// Greatest power of ten in a long.
  private static final int MOST_SHIFT = 18;

  /// Products of greater scale are the function's.
  private static final int MOST_SCALE = 1000;

  private NumericKernels() {}

  /// Whether a call takes compact words as arguments.
  static boolean takesCompact(Expr.Call call) {
    ScalarFunction function = call.function();
    return function.strict()
        && function.argumentOids().length == 2
        && function.argumentOids()[0] == TypeOid.NUMERIC
        && function.argumentOids()[1] == TypeOid.NUMERIC
        && (WordKernels.Comparison.of(function.name()) != null || operation(function.name()) != 0);
  }

  private static char operation(String name) {
    return switch (name) {
      case "+" -> '+';
      case "-" -> '-';
      case "*" -> '*';
      default -> 0;
    };
  }

  /// @param call for which [#takesCompact(Expr.Call)] holds
  /// @param compact whether results may be compact; else they are addresses
  static Evaluator of(Expr.Call call, EvalContext context, boolean compact) {
    Evaluator left = argument(call.arguments().get(0), context);
    Evaluator right = argument(call.arguments().get(1), context);
    WordKernels.@Nullable Comparison comparison = WordKernels.Comparison.of(call.function().name());
    return comparison != null
        ? new Compare(call.function(), comparison, left, right, context)
        : new Arithmetic(call.function(), left, right, context, compact);
  }

  /// An evaluator whose numerics may be compact.
  static Evaluator argument(Expr expr, EvalContext context) {
    if (expr instanceof Expr.Call call && takesCompact(call)) {
      return of(call, context, true);
    }
    if (expr instanceof Expr.Constant constant
        && !constant.isNull()
        && constant.typeOid() == TypeOid.NUMERIC) {
      long compact = CompactWord.ofNumeric(constant.word());
      if (compact != 0) {
        return Evaluators.constant(constant.withWord(compact));
      }
    }
    return Evaluators.of(expr, context);
  }

  private abstract static class Kernel extends Evaluator {
    final ScalarFunction function;
    final Evaluator left;
    final Evaluator right;
    final EvalContext context;
    final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private final long[] words = new long[2];

    Kernel(ScalarFunction function, Evaluator left, Evaluator right, EvalContext context) {
      this.function = function;
      this.left = left;
      this.right = right;
      this.context = context;
    }

    @Override
    public final ColumnVector evaluate(VectorBatch batch) {
      ColumnVector a = left.evaluate(batch);
      ColumnVector b = right.evaluate(batch);
      CallEvaluators.uniteNulls(a, b, out, batch.size);
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        out.words[row] = out.isNull(row) ? 0 : compute(a.words[row], b.words[row]);
      }
      return out;
    }

    private long compute(long a, long b) {
      long x = NumericWord.unscaled(a);
      long y = NumericWord.unscaled(b);
      return x == NumericFast.NOT_FAST || y == NumericFast.NOT_FAST
          ? call(a, b)
          : compute(a, b, x, y);
    }

    /// @param x the first word without its point
    /// @param y the other one
    abstract long compute(long a, long b, long x, long y);

    /// The function's own answer.
    final long call(long a, long b) {
      FunctionContext functions = context.functions;
      words[0] = NumericWord.inMemory(a, functions.heap);
      words[1] = NumericWord.inMemory(b, functions.heap);
      Interrupts.check();
      return function.body().apply(words, 0, functions);
    }
  }

  private static final class Compare extends Kernel {
    private final WordKernels.Comparison comparison;

    Compare(
        ScalarFunction function,
        WordKernels.Comparison comparison,
        Evaluator left,
        Evaluator right,
        EvalContext context) {
      super(function, left, right, context);
      this.comparison = comparison;
    }

    @Override
    long compute(long a, long b, long first, long second) {
      long x = first;
      long y = second;
      int lacking = NumericWord.scale(a) - NumericWord.scale(b);
      if (lacking != 0) {
        if (Math.abs(lacking) > MOST_SHIFT) {
          return call(a, b);
        }
        long power = NumericFast.powerOfTen(Math.abs(lacking));
        long small = lacking < 0 ? x : y;
        long shifted = small * power;
        if (Math.multiplyHigh(small, power) != shifted >> 63) {
          return call(a, b);
        }
        if (lacking < 0) {
          x = shifted;
        } else {
          y = shifted;
        }
      }
      return comparison.holds(x, y) ? 1 : 0;
    }
  }

  private static final class Arithmetic extends Kernel {
    private final char operation;
    private final boolean compact;

    Arithmetic(
        ScalarFunction function,
        Evaluator left,
        Evaluator right,
        EvalContext context,
        boolean compact) {
      super(function, left, right, context);
      this.operation = operation(function.name());
      this.compact = compact;
    }

    @Override
    long compute(long a, long b, long x, long y) {
      int scaleA = NumericWord.scale(a);
      int scaleB = NumericWord.scale(b);
      long result;
      int scale;
      if (operation == '*') {
        result = x * y;
        scale = scaleA + scaleB;
        if (scale > MOST_SCALE || Math.multiplyHigh(x, y) != result >> 63) {
          return call(a, b);
        }
      } else {
        scale = Math.max(scaleA, scaleB);
        if (scale - Math.min(scaleA, scaleB) > MOST_SHIFT) {
          return call(a, b);
        }
        long factorA = NumericFast.powerOfTen(scale - scaleA);
        long factorB = NumericFast.powerOfTen(scale - scaleB);
        long left = x * factorA;
        long right = y * factorB;
        if (Math.multiplyHigh(x, factorA) != left >> 63
            || Math.multiplyHigh(y, factorB) != right >> 63) {
          return call(a, b);
        }
        result = operation == '+' ? left + right : left - right;
        long overflow =
            operation == '+'
                ? (left ^ result) & (right ^ result)
                : (left ^ right) & (left ^ result);
        if (overflow < 0) {
          return call(a, b);
        }
      }
      long word = compact ? CompactWord.ofUnscaled(result, scale) : 0;
      return word != 0 ? word : NumericFast.encode(context.functions.heap, result, scale);
    }
  }
}
