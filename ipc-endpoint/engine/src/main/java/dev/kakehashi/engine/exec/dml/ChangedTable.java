package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.reference.ChangeLog;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan.Check;
import dev.kakehashi.engine.plan.PhysicalPlan.Generated;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A table that a statement changes: the store's operations with PostgreSQL's checks and errors.
final class ChangedTable {
  private final Target target;
  private final TableStore table;
  private final StoreTransaction transaction;

  private final EvalContext context;
  private final Evaluator[] checks;
  private final Evaluator[] generated;

  /// Changes that foreign keys ask about; null: no foreign key asks.
  private @Nullable ChangeLog log;

  ChangedTable(Target target, RunContext run, EvalContext context) {
    this(target, run, context, null);
  }

  /// @param log gets the changes
  ChangedTable(Target target, RunContext run, EvalContext context, @Nullable ChangeLog log) {
    this.log = log;
    this.target = target;
    this.context = context;
    this.checks = context.evaluators(target.checks(), Check::condition);
    this.generated = context.evaluators(target.generated(), Generated::value);
    this.table = run.scope().store().table(target.tableId());
    this.transaction = run.scope().transaction();
  }

  /// Begins an execution of a statement.
  void begin(StatementChanges changes) {
    changes.note(target);
    References references = target.references();
    if (references != null) {
      log = changes.newLog(target, references);
    }
  }

  ChangeLog log() {
    return Objects.requireNonNull(log);
  }

  Target target() {
    return target;
  }

  TableStore table() {
    return table;
  }

  StoreTransaction transaction() {
    return transaction;
  }

  /// Whether a row that a statement has found is still to be changed: as in PostgreSQL not if the same command has changed it before.
  ///
  /// @param view in which it was found
  /// @param change for the message: `updated`, `deleted`
  /// @throws EngineException TRIGGERED_DATA_CHANGE if a command that the statement's has called has changed it
  boolean mayChange(ReadView view, long rowId, String change) {
    return switch (table.ownChange(view, rowId)) {
      case NONE -> true;
      case SAME_COMMAND -> false;
      case LATER_COMMAND ->
          throw new EngineException(
                  ErrorCode.TRIGGERED_DATA_CHANGE,
                  "tuple to be "
                      + change
                      + " was already modified by an operation triggered by the current command")
              .withHint(
                  "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.");
    };
  }

  long insert(VectorBatch values, int row) {
    try {
      long rowId = table.insert(transaction, values, row);
      noteInserted(rowId);
      return rowId;
    } catch (DuplicateKey duplicate) {
      throw duplicateKey(duplicate, values, row);
    }
  }

  boolean update(long rowId, VectorBatch values, int row) {
    ChangeLog changes = log;
    boolean known = changes != null && changes.read(rowId);
    try {
      boolean updated = table.update(transaction, rowId, values, row);
      if (updated && known && changes != null) {
        changes.noteUpdated(rowId, values, row);
      }
      return updated;
    } catch (DuplicateKey duplicate) {
      throw duplicateKey(duplicate, values, row);
    }
  }

  boolean delete(long rowId) {
    ChangeLog changes = log;
    boolean known = changes != null && changes.read(rowId);
    boolean deleted = table.delete(transaction, rowId);
    if (deleted && known && changes != null) {
      changes.noteDeleted();
    }
    return deleted;
  }

  /// A row was inserted past [#insert].
  void noteInserted(long rowId) {
    if (log != null) {
      log.noteInserted(rowId);
    }
  }

  /// Evaluators of the generated columns for another user than this. Their values are valid until its next evaluation.
  ///
  /// @param user belongs to the plan
  Evaluator[] generatedOf(Object user) {
    return context.evaluators(user, target.generated(), Generated::value);
  }

  /// Expressions that [#generate] and [#check] compute for new rows of a table.
  static List<Expr> computed(Target target) {
    List<Expr> computed = new ArrayList<>();
    target.generated().forEach(column -> computed.add(column.value()));
    target.checks().forEach(check -> computed.add(check.condition()));
    return computed;
  }

  /// Computes the generated columns of a batch of new rows whose columns may be replaced, with by-reference values in its heap.
  void generate(VectorBatch batch) {
    generate(batch, generated);
  }

  void generate(VectorBatch batch, Evaluator[] evaluators) {
    if (evaluators.length > 0) {
      context.functions.heap = batch.heap;
      for (int i = 0; i < evaluators.length; i++) {
        batch.columns[target.generated().get(i).column()] = evaluators[i].evaluate(batch);
      }
    }
  }

  /// Refuses live rows of a batch of new rows that violate a NOT NULL or CHECK constraint. Values computed for the check lie in the batch's
  /// heap, too.
  void check(VectorBatch batch) {
    checkNotNull(batch);
    if (checks.length == 0) {
      return;
    }
    context.functions.heap = batch.heap;
    int live = batch.liveRows();
    for (int i = 0; i < checks.length; i++) {
      ColumnVector truth = checks[i].evaluate(batch);
      for (int k = 0; k < live; k++) {
        int row = batch.selected < 0 ? k : batch.selection[k];
        if (!truth.isNull(row) && truth.words[row] == 0) {
          String name = target.checks().get(i).name();
          throw new EngineException(
                  ErrorCode.CHECK_VIOLATION,
                  "new row for relation \""
                      + target.table()
                      + "\" violates check constraint \""
                      + name
                      + "\"")
              .withDetail("Failing row contains (" + rowText(batch, row) + ").")
              .withTable(target.schema(), target.table())
              .withConstraint(name);
        }
      }
    }
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

  EngineException duplicateKey(DuplicateKey duplicate, VectorBatch batch, int row) {
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
}
