package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowIdSet;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.plan.PhysicalPlan.OnConflict;
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

/// INSERT ... ON CONFLICT, row by row: insert, and when the row exists leave it or update it.
final class Upsert {
  /// Outcome for a row.
  enum Outcome {
    INSERTED,
    UPDATED,
    LEFT
  }

  private final RunContext run;
  private final StatementChanges changes;
  private final ChangedTable table;
  private final OnConflict conflict;
  private final EvalContext context;
  private final Evaluator @Nullable [] values;
  private final @Nullable Evaluator condition;
  private final Evaluator[] generated;
  private final int columns;
  private final int[] allColumns;

  /// Rows that this statement has inserted or updated: none of them may be updated again.
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
    this.values = conflict.values() == null ? null : context.evaluators(conflict.values());
    this.condition = conflict.condition() == null ? null : context.evaluator(conflict.condition());
    // Its own: the values of the rows to insert stay.
    this.generated = values == null ? new Evaluator[0] : table.generatedOf(conflict);
    this.columns = table.target().columns().size();
    boolean updates = values != null;
    // Without an update it is enough that a row is there.
    this.allColumns = IntStream.range(0, updates ? columns : 0).toArray();
    this.existing = VectorBatch.ofRows(updates ? columns : 0, 1);
    this.pair = VectorBatch.view(updates ? 2 * columns + conflict.computed() : 0);
    this.updated = VectorBatch.view(updates ? columns : 0);
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
      if (values != null) {
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
      if (values == null && duplicate.isNewer() && run.scope().keepsSnapshot()) {
        throw changedSince();
      }
      Evaluator[] assigned = values;
      return assigned == null ? Outcome.LEFT : update(arbiter, batch, source, row, assigned);
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

  private Outcome update(
      IndexDefinition index, VectorBatch batch, VectorBatch source, int row, Evaluator[] assigned) {
    if (!find(index, batch, row, run.scope().view())) {
      if (find(index, batch, row, table.transaction().beginStatement())) {
        throw affectedTwice();
      }
      throw changedSince();
    }
    long rowId = existing.rowIds[0];
    if (table.table().ownChange(run.scope().view(), rowId) != OwnChange.NONE
        || !table.table().lock(table.transaction(), rowId, LockStrength.NO_KEY_UPDATE)
        || changed.contains(rowId)) {
      throw affectedTwice();
    }
    pairUp(batch, source, row);
    context.functions.heap = updated.heap;
    updated.heap.reset();
    Evaluator applies = condition;
    if (applies != null) {
      ColumnVector result = applies.evaluate(pair);
      if (result.isNull(0) || result.words[0] == 0) {
        return Outcome.LEFT; // it may come again
      }
    }
    changed.add(rowId);
    for (int c = 0; c < columns; c++) {
      updated.columns[c] = assigned[c].evaluate(pair);
    }
    updated.size = 1;
    table.generate(updated, generated);
    table.check(updated);
    if (!table.update(rowId, updated, 0)) {
      throw affectedTwice();
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

  private static EngineException affectedTwice() {
    return new EngineException(
            ErrorCode.CARDINALITY_VIOLATION,
            "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .withHint(
            "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.");
  }

  void close() {
    existing.close();
    updated.heap.close();
  }
}
