package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowIdSet;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan.ConflictAction;
import dev.kakehashi.engine.plan.PhysicalPlan.LeaveExisting;
import dev.kakehashi.engine.plan.PhysicalPlan.OnConflict;
import dev.kakehashi.engine.plan.PhysicalPlan.SelectExisting;
import dev.kakehashi.engine.plan.PhysicalPlan.UpdateExisting;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.OwnChange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// INSERT ... ON CONFLICT, row by row: insert, and when the row exists leave it, update it or select it.
final class Upsert {
  /// Outcome for a row.
  enum Outcome {
    INSERTED,
    UPDATED,
    SELECTED,
    LEFT
  }

  private final RunContext run;
  private final StatementChanges changes;
  private final ChangedTable table;
  private final OnConflict conflict;
  private final EvalContext context;
  private final Evaluator[] values;
  private final @Nullable Evaluator condition;
  private final Evaluator[] generated;
  private final int columns;
  private final int[] allColumns;

  /// Rows that this statement has updated, other parts of it included, and for DO UPDATE those that it has inserted: none of them may be
  /// updated again.
  private RowIdSet changed = new RowIdSet();

  private final VectorBatch existing;
  private final VectorBatch pair;
  private final VectorBatch updated;

  Upsert(
      RunContext run,
      StatementChanges changes,
      ChangedTable table,
      OnConflict conflict,
      EvalContext context) {
    this.run = run;
    this.changes = changes;
    this.table = table;
    this.conflict = conflict;
    this.context = context;
    boolean updates = conflict.action() instanceof UpdateExisting;
    this.values =
        conflict.action() instanceof UpdateExisting update
            ? context.evaluators(update.values())
            : new Evaluator[0];
    Expr where = condition(conflict.action());
    this.condition = where == null ? null : context.evaluator(where);
    // Its own: the values of the rows to insert stay.
    this.generated = updates ? table.generatedOf(conflict) : new Evaluator[0];
    this.columns = table.target().columns().size();
    // To leave it, it is enough that a row is there.
    int read = conflict.takesExisting() ? columns : 0;
    this.allColumns = IntStream.range(0, read).toArray();
    this.existing = VectorBatch.ofRows(read, 1);
    this.pair = VectorBatch.view(read == 0 ? 0 : 2 * columns + conflict.computed());
    this.updated = VectorBatch.view(updates ? columns : 0);
  }

  private static @Nullable Expr condition(ConflictAction action) {
    return switch (action) {
      case LeaveExisting leave -> null;
      case SelectExisting select -> select.condition();
      case UpdateExisting update -> update.condition();
    };
  }

  void begin() {
    RowIdSet shared = changes.changedRows(table.target().tableId());
    changed = shared == null ? new RowIdSet() : shared;
  }

  /// @param batch the rows to insert
  /// @param source the same with what was computed for them
  Outcome put(VectorBatch batch, VectorBatch source, int row) {
    long before = table.transaction().mark();
    try {
      long rowId = table.table().insert(table.transaction(), batch, row);
      if (conflict.action() instanceof UpdateExisting) {
        changed.add(rowId);
      }
      table.noteInserted(rowId);
      return Outcome.INSERTED;
    } catch (DuplicateKey duplicate) {
      table.transaction().rollbackTo(before);
      IndexDefinition arbiter = arbiter(duplicate.index(), batch, row);
      if (arbiter == null) {
        throw table.duplicateKey(duplicate, batch, row);
      }
      return switch (conflict.action()) {
        case LeaveExisting leave -> {
          if (duplicate.isNewer() && run.scope().keepsSnapshot()) {
            throw changedSince();
          }
          yield Outcome.LEFT;
        }
        case SelectExisting select -> select(arbiter, batch, source, row, select.lock());
        case UpdateExisting update -> update(arbiter, batch, source, row);
      };
    }
  }

  /// The index of ON CONFLICT in which the row is a duplicate. Indexes are looked at in their own order, but those of ON
  /// CONFLICT decide first.
  private @Nullable IndexDefinition arbiter(IndexDefinition met, VectorBatch batch, int row) {
    if (conflict.arbiters().contains(met.indexId())) {
      return met;
    }
    for (IndexDefinition index : table.table().definition().indexes()) {
      if (conflict.arbiters().contains(index.indexId())
          && table.table().covers(position(index), batch, row)
          && (index.nullsNotDistinct()
              || index.columns().stream().noneMatch(c -> batch.columns[c].isNull(row)))
          && (find(index, batch, row, run.scope().view())
              || find(index, batch, row, table.transaction().beginStatement()))) {
        return index;
      }
    }
    return null;
  }

  /// The updated row after [Outcome#UPDATED], in position 0; valid until the next row.
  VectorBatch updated() {
    return updated;
  }

  /// The row that was there, after [Outcome#SELECTED] and [Outcome#UPDATED], in position 0; valid until the next row.
  VectorBatch existing() {
    return existing;
  }

  /// A row that this statement has made is given as it is now, and cannot be locked, as in PostgreSQL.
  private Outcome select(
      IndexDefinition index,
      VectorBatch batch,
      VectorBatch source,
      int row,
      @Nullable LockStrength lock) {
    if (!isThere(index, batch, row)) {
      if (!find(index, batch, row, table.transaction().beginStatement())) {
        throw changedSince();
      }
      if (lock != null) {
        throw affectedTwice("SELECT");
      }
    } else if (lock != null && !table.table().lock(table.transaction(), existing.rowIds[0], lock)) {
      throw affectedTwice("SELECT");
    }
    boolean isResult = condition == null || applies(batch, source, row);
    return isResult ? Outcome.SELECTED : Outcome.LEFT;
  }

  /// Whether a row with the same key was there when the statement began, and the statement has not changed it; then it is in `existing`.
  private boolean isThere(IndexDefinition index, VectorBatch batch, int row) {
    ReadView view = run.scope().view();
    return find(index, batch, row, view)
        && table.table().ownChange(view, existing.rowIds[0]) == OwnChange.NONE
        && !changed.contains(existing.rowIds[0]);
  }

  /// Evaluates WHERE for `existing` and the row that was to be inserted, which are in `pair` then.
  private boolean applies(VectorBatch batch, VectorBatch source, int row) {
    pairUp(batch, source, row);
    context.functions.heap = updated.heap;
    updated.heap.reset();
    Evaluator where = condition;
    if (where == null) {
      return true;
    }
    ColumnVector result = where.evaluate(pair);
    return !result.isNull(0) && result.words[0] != 0;
  }

  private Outcome update(IndexDefinition index, VectorBatch batch, VectorBatch source, int row) {
    if (!find(index, batch, row, run.scope().view())) {
      if (find(index, batch, row, table.transaction().beginStatement())) {
        throw affectedTwice("UPDATE");
      }
      throw changedSince();
    }
    long rowId = existing.rowIds[0];
    if (table.table().ownChange(run.scope().view(), rowId) != OwnChange.NONE
        || !table.table().lock(table.transaction(), rowId, LockStrength.NO_KEY_UPDATE)
        || changed.contains(rowId)) {
      throw affectedTwice("UPDATE");
    }
    if (!applies(batch, source, row)) {
      return Outcome.LEFT; // it may come again
    }
    changed.add(rowId);
    for (int c = 0; c < columns; c++) {
      updated.columns[c] = values[c].evaluate(pair);
    }
    updated.size = 1;
    table.generate(updated, generated);
    table.check(updated);
    if (!table.update(rowId, updated, 0)) {
      throw affectedTwice("UPDATE");
    }
    return Outcome.UPDATED;
  }

  /// The row was committed after the snapshot: the statement begins again with a newer one where it may.
  private RowConflict changedSince() {
    return new RowConflict(
        RowConflict.Kind.CHANGED_SINCE_SNAPSHOT,
        table.transaction(),
        table.table().definition().tableId(),
        -1);
  }

  private void pairUp(VectorBatch batch, VectorBatch source, int row) {
    for (int c = 0; c < columns; c++) {
      pair.columns[c] = existing.columns[c];
      pair.columns[columns + c] = one(batch.columns[c], row);
    }
    for (int c = 2 * columns; c < pair.columns.length; c++) {
      pair.columns[c] = one(source.columns[c - columns], row);
    }
    pair.size = 1;
  }

  private static ColumnVector one(ColumnVector column, int row) {
    ColumnVector one = new ColumnVector(1);
    if (column.isNull(row)) {
      one.setNull(0);
    } else {
      one.words[0] = column.words[row];
    }
    return one;
  }

  /// Reads the row with the same key into `existing`.
  private boolean find(IndexDefinition index, VectorBatch batch, int row, ReadView view) {
    List<Integer> keyColumns = index.columns();
    long[] key = new long[keyColumns.size()];
    boolean[] nulls = new boolean[key.length];
    for (int i = 0; i < key.length; i++) {
      ColumnVector column = batch.columns[keyColumns.get(i)];
      key[i] = column.words[row];
      nulls[i] = column.isNull(row);
    }
    try (RowCursor cursor =
        table
            .table()
            .indexScan(
                view, position(index), KeyRange.notDistinct(key, nulls), false, allColumns, true)) {
      return cursor.next(existing);
    }
  }

  private int position(IndexDefinition index) {
    List<IndexDefinition> indexes = table.table().definition().indexes();
    for (int i = 0; i < indexes.size(); i++) {
      if (indexes.get(i).indexId() == index.indexId()) {
        return i;
      }
    }
    throw new IllegalStateException("index " + index.name() + " is gone");
  }

  private static EngineException affectedTwice(String action) {
    return new EngineException(
            ErrorCode.CARDINALITY_VIOLATION,
            "ON CONFLICT DO " + action + " command cannot affect row a second time")
        .withHint(
            "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.");
  }

  void close() {
    existing.close();
    updated.heap.close();
  }
}
