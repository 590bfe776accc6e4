package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.store.DuplicateKey;
import dev.kakehashi.engine.store.StoreTransaction;
import dev.kakehashi.engine.store.TableStore;
import dev.kakehashi.engine.type.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Changes a table by the rows of a chain. Rows of RETURNING are kept until the whole statement has succeeded.
final class DmlConsumer implements BatchConsumer {
  private final Execution execution;
  private final PhysicalPlan plan;
  private final Target target;
  private final Evaluator @Nullable [] values;
  private final Evaluator @Nullable [] returning;
  private final @Nullable MaterializedRows returned;
  private final EvalContext context;
  private final VectorBatch newRow;
  private final VectorBatch returningBatch;
  private final int[] affected = new int[VectorBatch.CAPACITY];
  private final TableStore table;
  private final StoreTransaction transaction;
  private long rows;

  DmlConsumer(Execution execution, PhysicalPlan plan, EvalContext context) {
    this.execution = execution;
    this.plan = plan;
    this.target = target(plan);
    this.context = context;
    List<Expr> assigned = plan instanceof PhysicalPlan.Update update ? update.values() : null;
    this.values = assigned == null ? null : Evaluators.of(assigned, context);
    List<Expr> expressions = returning(plan);
    this.returning = expressions == null ? null : Evaluators.of(expressions, context);
    this.returned =
        expressions == null
            ? null
            : new MaterializedRows(
                expressions.stream().mapToInt(Expr::typeOid).toArray(), execution.memory());
    this.newRow = new VectorBatch(0, target.columns().size());
    this.returningBatch = new VectorBatch(0, expressions == null ? 0 : expressions.size());
    this.table = execution.scope().store().table(target.tableId());
    this.transaction = execution.scope().transaction();
  }

  static Target target(PhysicalPlan plan) {
    return switch (plan) {
      case PhysicalPlan.Insert insert -> insert.target();
      case PhysicalPlan.Update update -> update.target();
      case PhysicalPlan.Delete delete -> delete.target();
      case PhysicalPlan.Query query -> throw new IllegalArgumentException("a query has no target");
    };
  }

  static @Nullable List<Expr> returning(PhysicalPlan plan) {
    return switch (plan) {
      case PhysicalPlan.Insert insert -> insert.returning();
      case PhysicalPlan.Update update -> update.returning();
      case PhysicalPlan.Delete delete -> delete.returning();
      case PhysicalPlan.Query query -> null;
    };
  }

  /// Rows of RETURNING, or null when there is none.
  @Nullable MaterializedRows returned() {
    return returned;
  }

  @Override
  public boolean accept(VectorBatch batch) {
    VectorBatch changed =
        switch (plan) {
          case PhysicalPlan.Insert insert -> batch;
          case PhysicalPlan.Update update -> newRows(batch);
          case PhysicalPlan.Delete delete -> batch;
          case PhysicalPlan.Query query ->
              throw new IllegalStateException("a query changes nothing");
        };
    if (!(plan instanceof PhysicalPlan.Delete)) {
      checkNotNull(changed);
    }
    int count = 0;
    int live = batch.liveRows();
    for (int k = 0; k < live; k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      if (apply(batch, changed, row)) {
        affected[count++] = row;
      }
    }
    rows += count;
    if (returning != null && returned != null && count > 0) {
      keepReturning(changed, returning, returned, count);
    }
    execution.scope().checkCancelled();
    return true;
  }

  private VectorBatch newRows(VectorBatch batch) {
    Evaluator[] expressions = values;
    if (expressions == null) {
      throw new IllegalStateException("only an update has new values");
    }
    newRow.heap.reset();
    context.functions.heap = newRow.heap;
    for (int c = 0; c < expressions.length; c++) {
      newRow.columns[c] = expressions[c].evaluate(batch);
    }
    newRow.size = batch.size;
    newRow.selection = batch.selection;
    newRow.selected = batch.selected;
    return newRow;
  }

  private boolean apply(VectorBatch old, VectorBatch changed, int row) {
    try {
      return switch (plan) {
        case PhysicalPlan.Insert insert -> {
          yield insert(insert, changed, row);
        }
        case PhysicalPlan.Update update -> table.update(transaction, old.rowIds[row], changed, row);
        case PhysicalPlan.Delete delete -> table.delete(transaction, old.rowIds[row]);
        case PhysicalPlan.Query query -> false;
      };
    } catch (DuplicateKey duplicate) {
      throw duplicateKey(duplicate, changed, row);
    }
  }

  /// False if the row was left out because it exists.
  private boolean insert(PhysicalPlan.Insert insert, VectorBatch values, int row) {
    if (insert.skipDuplicatesOf().isEmpty()) {
      table.insert(transaction, values, row);
      return true;
    }
    long before = transaction.mark();
    try {
      table.insert(transaction, values, row);
      return true;
    } catch (DuplicateKey duplicate) {
      if (!insert.skipDuplicatesOf().contains(duplicate.index().indexId())) {
        throw duplicate;
      }
      transaction.rollbackTo(before);
      return false;
    }
  }

  private void keepReturning(
      VectorBatch changed, Evaluator[] expressions, MaterializedRows into, int count) {
    int[] selection = changed.selection;
    int selected = changed.selected;
    changed.selection = affected;
    changed.selected = count;
    returningBatch.heap.reset();
    context.functions.heap = returningBatch.heap;
    for (int i = 0; i < expressions.length; i++) {
      returningBatch.columns[i] = expressions[i].evaluate(changed);
    }
    returningBatch.size = changed.size;
    returningBatch.selection = affected;
    returningBatch.selected = count;
    into.append(returningBatch);
    changed.selection = selection;
    changed.selected = selected;
  }

  private void checkNotNull(VectorBatch batch) {
    for (int c = 0; c < target.columns().size(); c++) {
      ColumnVector column = batch.columns[c];
      if (!target.notNull()[c] || !column.hasNulls) {
        continue;
      }
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = batch.selected < 0 ? k : batch.selection[k];
        if (column.isNull(row)) {
          throw new EngineException(
                  ErrorCode.NOT_NULL_VIOLATION,
                  "null value in column \""
                      + target.columns().get(c)
                      + "\" of relation \""
                      + target.table()
                      + "\" violates not-null constraint")
              .withDetail("Failing row contains (" + rowText(batch, row) + ").")
              .withTable(target.schema(), target.table())
              .withColumn(target.columns().get(c));
        }
      }
    }
  }

  private EngineException duplicateKey(DuplicateKey duplicate, VectorBatch batch, int row) {
    List<String> names = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    for (int c : duplicate.index().columns()) {
      names.add(target.columns().get(c));
      texts.add(text(batch, c, row));
    }
    return new EngineException(
            ErrorCode.UNIQUE_VIOLATION,
            "duplicate key value violates unique constraint \"" + duplicate.index().name() + "\"")
        .withDetail(
            "Key ("
                + String.join(", ", names)
                + ")=("
                + String.join(", ", texts)
                + ") already exists.")
        .withTable(target.schema(), target.table())
        .withConstraint(duplicate.index().name());
  }

  private String rowText(VectorBatch batch, int row) {
    List<String> texts = new ArrayList<>();
    for (int c = 0; c < target.columns().size(); c++) {
      texts.add(text(batch, c, row));
    }
    return String.join(", ", texts);
  }

  private String text(VectorBatch batch, int column, int row) {
    ColumnVector vector = batch.columns[column];
    return vector.isNull(row)
        ? "null"
        : Values.toText(target.typeOids()[column], vector.words[row]);
  }

  @Override
  public boolean finish() {
    return true;
  }

  @Override
  public void abandon() {}

  /// Frees what is held, RETURNING's rows too.
  void close() {
    newRow.heap.close();
    returningBatch.heap.close();
    if (returned != null) {
      returned.clear();
    }
  }

  @Override
  public long rows() {
    return rows;
  }
}
