package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.ForeignKey.Action;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.KeyRange;
import dev.kakehashi.engine.store.ReadView;
import dev.kakehashi.engine.store.RowCursor;
import dev.kakehashi.engine.store.StoreTransaction;
import dev.kakehashi.engine.store.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.TableStore;
import dev.kakehashi.engine.type.Ordering;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// What foreign keys make of the changes of a statement, at its end: rows that reference nothing are refused, and rows whose key went away are refused, or follow.
///
/// What an action changes is looked at in the same way before the next foreign key is, depth first, as PostgreSQL's triggers do. A rule looks for the
/// rows that reference with a view of the newest commits, not with the statement's: a row that another transaction has inserted since the snapshot is seen. If an action
/// then has to change it, that is a conflict like any other ([dev.kakehashi.engine.store.RowConflict]). Why nothing can be inserted meanwhile is said in the store's `KeyLocks`.
///
/// Confined to one thread at a time.
final class ReferentialActions {
  private final Execution execution;
  private final References references;
  private final EvalContext context;
  private final Deque<Step> steps = new ArrayDeque<>();

  /// Everything that was opened and is to be closed.
  private final List<ChangeLog> logs = new ArrayList<>();

  /// Rules of one table's changes that are still to be looked at.
  ///
  /// @param incoming whether the rule references the changed table
  /// @param last whether the log is not needed afterwards
  private record Step(Rule rule, ChangeLog log, boolean incoming, boolean last) {}

  ReferentialActions(Execution execution, References references) {
    this.execution = execution;
    this.references = references;
    this.context = execution.newContext();
  }

  /// It changes from execution to execution.
  private StoreTransaction transaction() {
    return execution.scope().transaction();
  }

  /// A log for the changes of one table.
  ChangeLog newLog(Target target) {
    ChangeLog log = new ChangeLog(target, references, execution);
    logs.add(log);
    return log;
  }

  /// Does what the changes of a statement ask for.
  void settle(ChangeLog changes) {
    push(changes);
    try {
      Step step;
      while ((step = steps.poll()) != null) {
        execution.scope().checkCancelled();
        if (step.incoming) {
          follow(step.rule, step.log);
        } else {
          require(step.rule, step.log.written(step.log.outgoing().indexOf(step.rule)));
        }
        if (step.last) {
          step.log.close();
          logs.remove(step.log);
        }
      }
    } finally {
      steps.clear();
      transaction().endLatest();
    }
  }

  private void push(ChangeLog log) {
    if (log.isEmpty()) {
      return;
    }
    List<Step> next = new ArrayList<>();
    if (log.deleted().size() > 0 || log.updated().size() > 0) {
      log.incoming().forEach(rule -> next.add(new Step(rule, log, true, false)));
    }
    for (int i = 0; i < log.outgoing().size(); i++) {
      if (log.written(i).count() > 0) {
        next.add(new Step(log.outgoing().get(i), log, false, false));
      }
    }
    for (int i = next.size() - 1; i >= 0; i--) {
      Step step = next.get(i);
      steps.push(new Step(step.rule, log, step.incoming, i == next.size() - 1));
    }
  }

  void close() {
    logs.forEach(ChangeLog::close);
    logs.clear();
  }

  // ---- rows with new references ----

  private void require(Rule rule, ChangeLog.RowIds rows) {
    ReadView view = execution.scope().referenceView();
    TableStore table = execution.scope().store().table(rule.tableId());
    try (VectorBatch row = new VectorBatch(rule.columns().length);
        ReferenceLookup lookup = new ReferenceLookup(rule, execution.scope().store(), view)) {
      for (int i = 0; i < rows.count(); i++) {
        // It may have been changed again, by an action.
        if (table.read(view, rows.id(i), rule.columns(), row)) {
          lookup.requireLocked(row, 0, transaction());
        }
        if (i % VectorBatch.CAPACITY == 0) {
          execution.scope().checkCancelled();
        }
      }
    }
  }

  // ---- keys that went away ----

  private void follow(Rule rule, ChangeLog log) {
    ReadView view = transaction().beginLatest();
    if (log.deleted().size() > 0) {
      act(rule, rule.onDelete(), log, log.deleted(), view, false);
    }
    if (log.updated().size() > 0) {
      act(rule, rule.onUpdate(), log, log.updated(), view, true);
    }
  }

  private void act(
      Rule rule,
      Action action,
      ChangeLog log,
      MaterializedRows rows,
      ReadView view,
      boolean updated) {
    try (Keys keys = new Keys(rule, action, log, rows, view, updated)) {
      keys.collect();
      if (keys.table.rows().size() == 0) {
        return;
      }
      Target target = action.changes() ? references.targets().get(rule.tableId()) : null;
      if (target == null) {
        new Referencing(rule, view, keys, null, action, updated).run();
        return;
      }
      ChangedTable changed = new ChangedTable(target, execution, context, newLog(target));
      try {
        new Referencing(rule, view, keys, changed, action, updated).run();
      } finally {
        changed.close();
      }
      push(changed.log());
    }
  }

  /// Keys that went away: columns of the key in the rule's order, then the new ones where rows were updated.
  private final class Keys implements AutoCloseable {
    private final Rule rule;
    private final Action action;
    private final ChangeLog log;
    private final MaterializedRows rows;
    private final ReadView view;
    private final boolean updated;
    private final int width;
    final JoinTable table;

    Keys(
        Rule rule,
        Action action,
        ChangeLog log,
        MaterializedRows rows,
        ReadView view,
        boolean updated) {
      this.rule = rule;
      this.action = action;
      this.log = log;
      this.rows = rows;
      this.view = view;
      this.updated = updated;
      this.width = rule.columns().length;
      int[] oids = new int[2 * width];
      for (int i = 0; i < oids.length; i++) {
        oids[i] = rule.referencedOids()[i % width];
      }
      this.table = new JoinTable(oids, IntStream.range(0, width).toArray(), execution.memory());
    }

    void collect() {
      int[] positions = log.positions(rule.referencedColumns());
      TableStore referenced = execution.scope().store().table(rule.referencedId());
      ColumnVector[] pair = new ColumnVector[2 * width];
      try (VectorBatch old = new VectorBatch(log.rowIdColumn() + 1);
          VectorBatch now = new VectorBatch(width);
          ReferenceLookup lookup = new ReferenceLookup(rule, execution.scope().store(), view)) {
        for (int i = 0; i < rows.size(); i++) {
          old.reset();
          rows.read(i, old, 0, 0);
          boolean anyNull = false;
          for (int c = 0; c < width; c++) {
            pair[c] = old.columns[positions[c]];
            anyNull |= pair[c].isNull(0);
          }
          if (anyNull) {
            continue; // nothing references it
          }
          long rowId = old.columns[log.rowIdColumn()].words[0];
          if (updated && !hasChanged(referenced, rowId, pair, now)) {
            continue;
          }
          for (int c = 0; c < width; c++) {
            pair[width + c] = updated ? now.columns[c] : pair[c];
          }
          if (action == Action.NO_ACTION && lookup.exists(pair, 0)) {
            continue; // it is there again
          }
          table.rows().append(pair, 0);
        }
      }
      table.build();
    }

    private boolean hasChanged(
        TableStore referenced, long rowId, ColumnVector[] before, VectorBatch now) {
      if (!referenced.read(view, rowId, rule.referencedColumns(), now)) {
        return false; // deleted since, by an action
      }
      for (int c = 0; c < width; c++) {
        if (now.columns[c].isNull(0)
            || !ReferenceLookup.isSame(
                Types.kind(rule.referencedOids()[c]),
                before[c].words[0],
                now.columns[c].words[0])) {
          return true;
        }
      }
      return false;
    }

    /// The key that a row references, or -1.
    int find(ColumnVector[] columns, int row) {
      long hash = table.hash(columns, row);
      for (int c = 0; c < width; c++) {
        if (columns[c].isNull(row)) {
          return -1;
        }
      }
      for (int key = table.first(hash); key >= 0; key = table.next(key)) {
        if (table.hash(key) == hash && isEqual(key, columns, row)) {
          return key;
        }
      }
      return -1;
    }

    private boolean isEqual(int key, ColumnVector[] columns, int row) {
      for (int c = 0; c < width; c++) {
        if (!Ordering.equal(table.keyKind(c), table.rows().word(c, key), columns[c].words[row])) {
          return false;
        }
      }
      return true;
    }

    @Override
    public void close() {
      table.close();
    }
  }

  /// Goes over the rows that reference keys, by an index if there is one.
  private final class Referencing {
    private final Rule rule;
    private final ReadView view;
    private final Keys keys;
    private final @Nullable ChangedTable changed;
    private final Action action;
    private final boolean updated;
    private final TableStore table;
    private final int[] columns;

    /// Where the columns of the rule are in what is read.
    private final int[] positions;

    private final Evaluator[] defaults;

    /// A row as it is to be.
    private final VectorBatch next;

    Referencing(
        Rule rule,
        ReadView view,
        Keys keys,
        @Nullable ChangedTable changed,
        Action action,
        boolean updated) {
      this.rule = rule;
      this.view = view;
      this.keys = keys;
      this.changed = changed;
      this.action = action;
      this.updated = updated;
      this.table = execution.scope().store().table(rule.tableId());
      boolean whole = changed != null;
      this.columns =
          whole
              ? IntStream.range(0, table.definition().columns().size()).toArray()
              : rule.columns();
      this.positions = whole ? rule.columns() : IntStream.range(0, rule.columns().length).toArray();
      this.defaults =
          action == Action.SET_DEFAULT ? Evaluators.of(rule.defaults(), context) : new Evaluator[0];
      this.next = new VectorBatch(0, whole ? columns.length : 0);
    }

    void run() {
      List<IndexDefinition> indexes = table.definition().indexes();
      try (next;
          VectorBatch batch = new VectorBatch(columns.length)) {
        for (int i = 0; i < indexes.size(); i++) {
          int[] order = ReferenceLookup.prefix(indexes.get(i), rule.columns());
          if (order != null) {
            byIndex(i, order, batch);
            return;
          }
        }
        try (RowCursor cursor = table.scan(view, 0, table.pageCount(), columns, true)) {
          while (cursor.next(batch)) {
            accept(batch);
          }
        }
      }
    }

    private void byIndex(int index, int[] order, VectorBatch batch) {
      long[] words = new long[order.length];
      MaterializedRows all = keys.table.rows();
      for (int key = 0; key < all.size(); key++) {
        boolean fits = true;
        for (int i = 0; i < order.length; i++) {
          words[i] = all.word(order[i], key);
          fits &= ReferenceLookup.fits(rule.typeOids()[order[i]], words[i]);
        }
        if (!fits) {
          continue;
        }
        try (RowCursor cursor =
            table.indexScan(view, index, KeyRange.equal(words), false, columns, true)) {
          while (cursor.next(batch)) {
            accept(batch);
          }
        }
      }
    }

    private void accept(VectorBatch batch) {
      execution.scope().checkCancelled();
      execution.scope().scanned(batch.size);
      ColumnVector[] references = new ColumnVector[positions.length];
      for (int i = 0; i < positions.length; i++) {
        references[i] = batch.columns[positions[i]];
      }
      ChangedTable target = changed;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = batch.selected < 0 ? k : batch.selection[k];
        int key = keys.find(references, row);
        if (key < 0) {
          continue;
        }
        if (target == null) {
          throw stillReferenced(references, row);
        }
        if (action == Action.CASCADE && !updated) {
          target.delete(batch.rowIds[row]);
        } else {
          update(target, batch, row, key);
        }
      }
    }

    private EngineException stillReferenced(ColumnVector[] references, int row) {
      return new EngineException(
              ErrorCode.FOREIGN_KEY_VIOLATION,
              "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\""
                  .formatted(rule.referencedTable(), rule.name(), rule.table()))
          .withDetail(
              "Key (%s)=(%s) is still referenced from table \"%s\"."
                  .formatted(
                      String.join(", ", rule.referencedNames()),
                      ReferenceLookup.text(rule.typeOids(), references, row),
                      rule.table()))
          .withTable(rule.schema(), rule.table())
          .withConstraint(rule.name());
    }

    private void update(ChangedTable target, VectorBatch batch, int row, int key) {
      next.reset();
      for (int c = 0; c < columns.length; c++) {
        next.columns[c] = value(batch.columns[c].isNull(row), batch.columns[c].words[row]);
      }
      next.size = 1;
      context.functions.heap = next.heap;
      for (int i = 0; i < positions.length; i++) {
        set(i, key);
      }
      target.check(next);
      if (target.update(batch.rowIds[row], next, 0) && action == Action.SET_DEFAULT) {
        // The default may be what went away: then nothing has changed, but has to be looked at.
        target.noteInserted(batch.rowIds[row]);
      }
    }

    private static ColumnVector value(boolean isNull, long word) {
      ColumnVector value = new ColumnVector(1);
      if (isNull) {
        value.setNull(0);
      } else {
        value.words[0] = word;
      }
      return value;
    }

    private void set(int i, int key) {
      int column = positions[i];
      if (action == Action.CASCADE) {
        MaterializedRows all = keys.table.rows();
        int now = positions.length + i;
        long word = all.word(now, key);
        if (!ReferenceLookup.fits(rule.typeOids()[i], word)) {
          throw new EngineException(
              ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
              Types.name(rule.typeOids()[i]) + " out of range");
        }
        next.columns[column] = value(all.isNull(now, key), word);
      } else if (updated || rule.setColumns().contains(column)) {
        next.columns[column] =
            action == Action.SET_DEFAULT ? defaults[i].evaluate(next) : value(true, 0);
      }
    }
  }
}
