package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.application.ApplicationScalar;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// Calls of functions: kernels for the operators that queries spend their time in, a loop over the function's body for the rest.
final class CallEvaluators {
  /// Calls between two looks whether the statement was canceled, less one.
  private static final int CHECK_MASK = (1 << 4) - 1;

  private CallEvaluators() {}

  static Evaluator of(Expr.Call call, EvalContext context) {
    if (NumericKernels.takesCompact(call)) {
      return NumericKernels.of(call, context, false);
    }
    Evaluator[] arguments = Evaluators.of(call.arguments(), context);
    if (call.function().body() instanceof ApplicationScalar ofApplication) {
      return new Batched(ofApplication, arguments, context);
    }
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

  /// A function of an application, in batches of the rows that it is to be called for.
  private static final class Batched extends Evaluator {
    private final ApplicationScalar function;
    private final boolean strict;
    private final Evaluator[] arguments;
    private final EvalContext context;
    private final ColumnVector[] inputs;
    private final int[] rows = new int[VectorBatch.CAPACITY];
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    Batched(ApplicationScalar function, Evaluator[] arguments, EvalContext context) {
      this.function = function;
      this.strict = function.signature().strict();
      this.arguments = arguments;
      this.context = context;
      this.inputs = new ColumnVector[arguments.length];
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      for (int i = 0; i < arguments.length; i++) {
        inputs[i] = arguments[i].evaluate(batch);
      }
      out.clearNulls();
      boolean all = batch.selected < 0;
      int live = batch.liveRows();
      int count = 0;
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, all, k);
        if (strict && hasNull(row)) {
          out.setNull(row);
        } else {
          rows[count++] = row;
        }
      }
      if (count > 0) {
        context
            .functions
            .calls(function)
            .call(inputs, rows, count, all && count == live, out, context.functions.heap);
      }
      return out;
    }

    private boolean hasNull(int row) {
      for (ColumnVector input : inputs) {
        if (input.isNull(row)) {
          return true;
        }
      }
      return false;
    }
  }

  /// Any function, row by row.
  private static final class Rowwise extends Evaluator {
    private final ScalarFunction function;
    private final Evaluator[] arguments;
    private final EvalContext context;
    private final ColumnVector[] inputs;
    private final long[] words;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    /// Bit i: argument i is a varlena, whose length tells of the work.
    private final long sized;

    Rowwise(ScalarFunction function, Evaluator[] arguments, EvalContext context) {
      this.function = function;
      this.arguments = arguments;
      this.context = context;
      this.inputs = new ColumnVector[arguments.length];
      this.words = new long[arguments.length];
      long lengths = 0;
      for (int i = 0; i < arguments.length; i++) {
        lengths |= isVarlena(function.argumentOids()[i]) ? 1L << i : 0;
      }
      this.sized = lengths;
    }

    private static boolean isVarlena(int oid) {
      return switch (Types.kind(oid)) {
        case INTEGER, FLOAT4, FLOAT8, UUID, INTERVAL -> false;
        default -> true;
      };
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      for (int i = 0; i < arguments.length; i++) {
        inputs[i] = arguments[i].evaluate(batch);
      }
      out.clearNulls();
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      int mask = live > 0 && isLong(row(batch.selection, dense, 0)) ? 0 : CHECK_MASK;
      for (int k = 0; k < live; k++) {
        row(row(batch.selection, dense, k));
        if ((k & mask) == mask) {
          Interrupts.check();
        }
      }
      return out;
    }

    /// Whether a row has a long argument: then those of the others are taken to be long, too.
    private boolean isLong(int row) {
      for (long left = sized; left != 0; left &= left - 1) {
        ColumnVector input = inputs[Long.numberOfTrailingZeros(left)];
        if (!input.isNull(row) && Varlena.length(input.words[row]) > Interrupts.LONG_BYTES) {
          return true;
        }
      }
      return false;
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
