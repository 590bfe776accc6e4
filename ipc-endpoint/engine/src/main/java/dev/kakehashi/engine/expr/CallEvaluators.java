package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// Calls of functions: kernels for the operators that queries spend their time in, a loop over the function's body for the rest.
final class CallEvaluators {
  private CallEvaluators() {}

  static Evaluator of(Expr.Call call, EvalContext context) {
    Evaluator[] arguments = Evaluators.of(call.arguments(), context);
    @Nullable Evaluator kernel = WordKernels.find(call.function(), arguments);
    return kernel != null ? kernel : new Rowwise(call.function(), arguments, context);
  }

  /// Unites the nulls of two vectors in a third. All bits up to the batch's size are copied, live or not.
  static void uniteNulls(ColumnVector a, ColumnVector b, ColumnVector out, int size) {
    out.clearNulls();
    if (!a.hasNulls && !b.hasNulls) {
      return;
    }
    int words = (size + 63) >>> 6;
    for (int i = 0; i < words; i++) {
      out.nulls[i] = (a.hasNulls ? a.nulls[i] : 0) | (b.hasNulls ? b.nulls[i] : 0);
    }
    out.hasNulls = true;
  }

  /// Any function, row by row.
  private static final class Rowwise extends Evaluator {
    private final ScalarFunction function;
    private final Evaluator[] arguments;
    private final EvalContext context;
    private final ColumnVector[] inputs;
    private final long[] words;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    Rowwise(ScalarFunction function, Evaluator[] arguments, EvalContext context) {
      this.function = function;
      this.arguments = arguments;
      this.context = context;
      this.inputs = new ColumnVector[arguments.length];
      this.words = new long[arguments.length];
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      for (int i = 0; i < arguments.length; i++) {
        inputs[i] = arguments[i].evaluate(batch);
      }
      out.clearNulls();
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        row(row(batch.selection, dense, k));
      }
      return out;
    }

    private void row(int row) {
      long nulls = 0;
      for (int i = 0; i < inputs.length; i++) {
        ColumnVector input = inputs[i];
        if (input.isNull(row)) {
          nulls |= 1L << i;
          words[i] = 0;
        } else {
          words[i] = input.words[row];
        }
      }
      if (nulls != 0 && function.strict()) {
        out.setNull(row);
        return;
      }
      FunctionContext functions = context.functions;
      functions.resultIsNull = false;
      long result = function.body().apply(words, nulls, functions);
      if (functions.resultIsNull) {
        out.setNull(row);
      } else {
        out.words[row] = result;
      }
    }
  }
}
