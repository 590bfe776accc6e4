package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Computes columns. The output shares the input's selection and the vectors of columns that are passed through.
///
/// A failure for a row is thrown when all rows before it have been handed on. So a consumer that has enough of them, as a LIMIT has, never
/// comes to the failure.
public final class Projection extends Operator {
  private final Operator input;
  private final List<Expr> of;

  /// Columns of the output whose numerics may be words.
  private BitSet compact = new BitSet();

  private final Evaluator[] expressions;
  private final EvalContext context;
  private final VectorBatch out;
  private final RowSlices slices;
  private final Consumer<VectorBatch> computation = this::compute;

  /// The input's batch, of which there are more rows to compute; null: there is none.
  private @Nullable VectorBatch unfinished;

  public Projection(Operator input, List<Expr> expressions, EvalContext context) {
    this.input = input;
    this.of = expressions;
    this.expressions = Evaluators.of(expressions, context);
    this.context = context;
    this.out = new VectorBatch(0, expressions.size());
    this.slices = new RowSlices(expressions);
  }

  @Override
  public void expectRows(long rows) {
    input.expectRows(rows);
  }

  @Override
  public void giveCompact(BitSet columns) {
    if (columns.equals(compact)) {
      return;
    }
    compact = columns;
    BitSet inMemory = new BitSet();
    BitSet ofInput = new BitSet();
    for (int i = 0; i < expressions.length; i++) {
      Expr expr = of.get(i);
      expressions[i] =
          columns.get(i) ? Evaluators.compact(expr, context) : Evaluators.of(expr, context);
      ExprRewriter.columns(expr).stream().forEach(ofInput::set);
      if (!(expr instanceof Expr.Column && columns.get(i))) {
        inMemory.or(ExprRewriter.columnsInMemory(expr));
      }
    }
    ofInput.andNot(inMemory);
    input.giveCompact(ofInput);
  }

  @Override
  public void open() {
    slices.begin();
    unfinished = null;
    input.open();
  }

  @Override
  public @Nullable VectorBatch next() {
    VectorBatch batch = unfinished == null ? input.next() : unfinished;
    if (batch == null) {
      return null;
    }
    slices.compute(batch, out.heap, computation);
    unfinished = slices.isUnfinished() ? batch : null;
    out.size = batch.size;
    out.selection = batch.selection;
    out.selected = batch.selected;
    return out;
  }

  private void compute(VectorBatch batch) {
    context.functions.heap = out.heap;
    for (int i = 0; i < expressions.length; i++) {
      out.columns[i] = expressions[i].evaluate(batch);
    }
  }

  @Override
  public void close() {
    input.close();
    out.heap.close();
  }
}
