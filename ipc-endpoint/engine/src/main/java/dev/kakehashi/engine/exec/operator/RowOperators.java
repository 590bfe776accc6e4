package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// Operators that turn one batch into at most one.
public final class RowOperators {
  private RowOperators() {}

  public static final class Filter extends Operator {
    private final Operator input;
    private final RowsBeforeFailure before;
    private final BitSet inMemory;

    public Filter(Operator input, Expr predicate, EvalContext context) {
      this.input = input;
      this.inMemory = ExprRewriter.columnsInMemory(predicate);
      this.before = new RowsBeforeFailure(RowFilter.of(predicate, context), context);
    }

    @Override
    public void expectRows(long rows) {
      input.expectRows(rows);
    }

    @Override
    public void giveCompact(BitSet columns) {
      BitSet ofInput = (BitSet) columns.clone();
      ofInput.andNot(inMemory);
      input.giveCompact(ofInput);
    }

    @Override
    public void open() {
      before.open();
      input.open();
    }

    @Override
    public @Nullable VectorBatch next() {
      while (true) {
        before.check();
        VectorBatch batch = input.next();
        if (batch == null || before.narrow(batch)) {
          return batch;
        }
      }
    }

    @Override
    public void close() {
      input.close();
      before.close();
    }
  }

  /// OFFSET and LIMIT, in a chain that only one task runs.
  public static final class Limit extends Operator {
    private final Operator input;
    private final @Nullable Evaluator offset;
    private final @Nullable Evaluator limit;
    private final EvalContext context;
    private long skip;
    private long left;

    public Limit(Operator input, PlanNode.Limit node, EvalContext context) {
      this.input = input;
      this.offset = node.offset() == null ? null : Evaluators.of(node.offset(), context);
      this.limit = node.limit() == null ? null : Evaluators.of(node.limit(), context);
      this.context = context;
    }

    @Override
    public void open() {
      skip = count(offset, 0, ErrorCode.INVALID_ROW_COUNT_IN_OFFSET, "OFFSET", context);
      left = count(limit, Long.MAX_VALUE, ErrorCode.INVALID_ROW_COUNT_IN_LIMIT, "LIMIT", context);
      input.expectRows(skip + Math.min(left, Long.MAX_VALUE - skip));
      input.open();
    }

    @Override
    public @Nullable VectorBatch next() {
      while (left > 0) {
        VectorBatch batch = input.next();
        if (batch == null) {
          return null;
        }
        int live = batch.liveRows();
        if (skip >= live) {
          skip -= live;
          continue;
        }
        int first = (int) skip;
        int count = (int) Math.min(live - first, left);
        skip = 0;
        left -= count;
        if (count < live) {
          keep(batch, first, count);
        }
        return batch;
      }
      return null;
    }

    private static void keep(VectorBatch batch, int first, int count) {
      int[] selection = batch.selection;
      boolean dense = batch.selected < 0;
      for (int k = 0; k < count; k++) {
        selection[k] = dense ? first + k : selection[first + k];
      }
      batch.selected = count;
    }

    @Override
    public void close() {
      input.close();
    }
  }

  /// Each batch once per grouping set, with the keys that the set lacks replaced by nulls.
  public static final class Expand extends Operator {
    private final Operator input;
    private final PlanNode.Expand node;
    private final VectorBatch out;
    private final ColumnVector nulls = new ColumnVector(VectorBatch.CAPACITY);
    private final ColumnVector number = new ColumnVector(VectorBatch.CAPACITY);
    private @Nullable VectorBatch current;
    private int set;

    public Expand(Operator input, PlanNode.Expand node) {
      this.input = input;
      this.node = node;
      this.out = new VectorBatch(0, node.typeOids().length);
      for (int row = 0; row < VectorBatch.CAPACITY; row++) {
        nulls.setNull(row);
      }
    }

    @Override
    public void open() {
      current = null;
      input.open();
    }

    @Override
    public @Nullable VectorBatch next() {
      VectorBatch batch = current;
      if (batch == null || set == node.sets().length) {
        batch = input.next();
        current = batch;
        set = 0;
        if (batch == null) {
          return null;
        }
      }
      boolean[] present = node.sets()[set];
      int keys = node.keys().length;
      for (int k = 0; k < keys; k++) {
        out.columns[k] = present[k] ? batch.columns[node.keys()[k]] : nulls;
      }
      Arrays.fill(number.words, set++);
      out.columns[keys] = number;
      System.arraycopy(batch.columns, 0, out.columns, keys + 1, batch.columns.length);
      out.size = batch.size;
      int live = batch.liveRows();
      out.selected = batch.selected < 0 ? -1 : live;
      if (batch.selected >= 0) {
        // Copied: an operator above may narrow this set's rows.
        System.arraycopy(batch.selection, 0, out.selection, 0, live);
      }
      return out;
    }

    @Override
    public void close() {
      input.close();
      current = null;
    }
  }

  /// Value of an OFFSET or LIMIT expression.
  public static long count(
      @Nullable Evaluator expression,
      long none,
      ErrorCode code,
      String clause,
      EvalContext context) {
    if (expression == null) {
      return none;
    }
    try (VarHeap heap = new VarHeap()) {
      context.functions.heap = heap;
      ColumnVector value = expression.evaluate(VectorBatch.oneRow());
      if (value.isNull(0)) {
        return none;
      }
      if (value.words[0] < 0) {
        throw new EngineException(code, clause + " must not be negative");
      }
      return value.words[0];
    }
  }

  /// All rows of several inputs, one after another.
  public static final class Union extends Operator {
    private final Operator[] inputs;
    private int current;

    public Union(Operator[] inputs) {
      this.inputs = inputs;
    }

    @Override
    public void expectRows(long rows) {
      for (Operator input : inputs) {
        input.expectRows(rows);
      }
    }

    @Override
    public void open() {
      current = 0;
      inputs[0].open();
    }

    @Override
    public @Nullable VectorBatch next() {
      while (true) {
        VectorBatch batch = inputs[current].next();
        if (batch != null) {
          return batch;
        }
        if (current == inputs.length - 1) {
          return null;
        }
        inputs[current].close();
        inputs[++current].open();
      }
    }

    @Override
    public void close() {
      for (Operator input : inputs) {
        input.close();
      }
    }
  }
}
