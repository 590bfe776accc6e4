package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// The rows of a function, made as they are asked for.
public final class FunctionScan extends Operator {
  /// Rows between two looks whether the statement was canceled, less one.
  private static final int CHECK_MASK = (1 << 4) - 1;

  private final PlanNode.FunctionScan node;
  private final EvalContext context;
  private final Evaluator[] arguments;
  private final VectorBatch single = VectorBatch.oneRow();
  private final VectorBatch batch;
  private final VarHeap heap = new VarHeap();
  private final long[] values;
  private RowFunction.@Nullable Rows rows;
  private boolean opened;

  /// Rows given out so far.
  private long count;

  public FunctionScan(PlanNode.FunctionScan node, EvalContext context) {
    this.node = node;
    this.context = context;
    this.arguments = Evaluators.of(node.arguments(), context);
    this.values = new long[node.function().columns().size()];
    this.batch = new VectorBatch(node.typeOids().length);
  }

  @Override
  public void open() {
    rows = null;
    opened = false;
    count = 0;
  }

  /// The arguments are evaluated when the first row is asked for: those of a lateral function are set then.
  private void begin() {
    opened = true;
    heap.reset();
    context.functions.heap = heap;
    long[] words = new long[arguments.length];
    long nulls = 0;
    for (int i = 0; i < words.length; i++) {
      ColumnVector argument = arguments[i].evaluate(single);
      if (argument.isNull(0) && node.function().strict()) {
        return;
      }
      words[i] = argument.isNull(0) ? 0 : argument.words[0];
      nulls |= argument.isNull(0) ? 1L << i : 0;
    }
    context.functions.nullArguments = nulls;
    rows = node.function().body().open(words, context.functions);
  }

  @Override
  public @Nullable VectorBatch next() {
    if (!opened) {
      begin();
    }
    RowFunction.Rows source = rows;
    if (source == null) {
      return null;
    }
    // A filter above may drop whatever comes, for as long as it comes.
    Interrupts.check();
    batch.reset();
    FunctionContext functions = context.functions;
    functions.heap = batch.heap;
    int last = values.length - 1;
    while (batch.hasRoom()) {
      // A row may be long in coming, as one that a regular expression is to find.
      if ((batch.size & CHECK_MASK) == CHECK_MASK) {
        Interrupts.check();
      }
      functions.resultIsNull = false;
      functions.nullColumns = 0;
      if (!source.next(values, functions)) {
        rows = null;
        break;
      }
      for (int i = 0; i <= last; i++) {
        batch.columns[i].words[batch.size] = values[i];
      }
      if (functions.resultIsNull) {
        batch.columns[last].setNull(batch.size);
      }
      for (long left = functions.nullColumns; left != 0; left &= left - 1) {
        batch.columns[Long.numberOfTrailingZeros(left)].setNull(batch.size);
      }
      count++;
      if (node.ordinality()) {
        batch.columns[last + 1].words[batch.size] = count;
      }
      batch.size++;
    }
    return batch.size == 0 ? null : batch;
  }

  @Override
  public void close() {
    rows = null;
    heap.close();
    batch.close();
  }
}
