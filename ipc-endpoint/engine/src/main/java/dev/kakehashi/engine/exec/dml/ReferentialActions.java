package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ForeignKey.Action;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.reference.ChangeLog;
import dev.kakehashi.engine.exec.reference.GoneKeys;
import dev.kakehashi.engine.exec.reference.ReferenceLookup;
import dev.kakehashi.engine.exec.reference.ReferencingRows;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;

/// Foreign keys applied to the changes of a statement, at its end. Rows that reference nothing are refused. Rows whose key went away are
/// refused, or follow.
///
/// Changes of an action are looked at in the same way before the next foreign key is, depth first, as PostgreSQL's triggers do. A rule
/// looks for referencing rows with a view of the newest commits, not with the statement's. So it sees a row that another transaction has
/// inserted since the snapshot. If an action then has to change that row, that is a conflict like any other
/// ([dev.kakehashi.engine.store.api.RowConflict]). The store's `KeyLocks` says why nothing can be inserted meanwhile.
///
/// Confined to one thread at a time.
final class ReferentialActions {
  private final RunContext run;
  private final StatementChanges changes;
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

  ReferentialActions(RunContext run, StatementChanges changes, References references) {
    this.run = run;
    this.changes = changes;
    this.references = references;
    this.context = run.newContext();
  }

  /// It changes from execution to execution.
  private StoreTransaction transaction() {
    return run.scope().transaction();
  }

  /// A log for the changes of one table.
  ChangeLog newLog(Target target) {
    ChangeLog log = new ChangeLog(target, references, run);
    logs.add(log);
    return log;
  }

  /// Does what the changes of a statement ask for.
  void settle(ChangeLog changes) {
    push(changes);
    try {
      Step step;
      while ((step = steps.poll()) != null) {
        run.scope().checkCanceled();
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
    ReadView view = run.scope().referenceView();
    TableStore table = run.scope().store().table(rule.referencing().tableId());
    try (VectorBatch row = VectorBatch.ofRows(rule.referencing().columns().length, 1);
        ReferenceLookup lookup = new ReferenceLookup(rule, run.scope().store(), view)) {
      for (int i = 0; i < rows.count(); i++) {
        // It may have been changed again, by an action.
        if (table.read(view, rows.id(i), rule.referencing().columns(), row)) {
          lookup.requireLocked(row, 0, transaction());
        }
        if (i % VectorBatch.CAPACITY == 0) {
          run.scope().checkCanceled();
        }
      }
    }
  }

  // ---- keys that went away ----

  private void follow(Rule rule, ChangeLog log) {
    ReadView view = transaction().beginLatest();
    if (log.deleted().size() > 0) {
      act(rule, rule.actions().onDelete(), log, log.deleted(), view, false);
    }
    if (log.updated().size() > 0) {
      act(rule, rule.actions().onUpdate(), log, log.updated(), view, true);
    }
  }

  private void act(
      Rule rule,
      Action action,
      ChangeLog log,
      MaterializedRows rows,
      ReadView view,
      boolean updated) {
    if (action == Action.NO_ACTION && log.isDeferred(rule)) {
      return;
    }
    try (GoneKeys keys = new GoneKeys(rule, updated, run.memory())) {
      collect(keys, rule, action, log, rows, view, updated);
      if (keys.size() == 0) {
        return;
      }
      if (!action.changes()) {
        ReferencingRows.refuse(run.scope(), rule, view, keys);
        return;
      }
      Target target =
          Objects.requireNonNull(references.targets().get(rule.referencing().tableId()));
      changes.note(target);
      ChangedTable changed = new ChangedTable(target, run, context, newLog(target));
      try (Change change = new Change(rule, action, updated, keys, changed)) {
        new ReferencingRows(run.scope(), rule, view, keys, true, change).visit();
      }
      push(changed.log());
    }
  }

  private void collect(
      GoneKeys keys,
      Rule rule,
      Action action,
      ChangeLog log,
      MaterializedRows rows,
      ReadView view,
      boolean updated) {
    int width = rule.referencing().columns().length;
    int[] positions = log.positions(rule.referenced().columns());
    TableStore referenced = run.scope().store().table(rule.referenced().tableId());
    ColumnVector[] pair = new ColumnVector[updated ? 2 * width : width];
    try (VectorBatch old = VectorBatch.ofRows(log.rowIdColumn() + 1, 1);
        VectorBatch now = VectorBatch.ofRows(width, 1);
        ReferenceLookup lookup = new ReferenceLookup(rule, run.scope().store(), view)) {
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
        if (updated) {
          long rowId = old.columns[log.rowIdColumn()].words[0];
          if (!referenced.read(view, rowId, rule.referenced().columns(), now)
              || ReferenceLookup.isSame(rule.referenced().typeOids(), pair, now.columns)) {
            continue; // deleted since, by an action, or the same again
          }
          System.arraycopy(now.columns, 0, pair, width, width);
        }
        if (action == Action.NO_ACTION && lookup.exists(pair, 0)) {
          continue; // it is there again
        }
        keys.add(pair);
      }
    }
    keys.build();
  }

  /// Change that an action makes to a row that references a key.
  private final class Change implements ReferencingRows.Visitor, AutoCloseable {
    private final Rule rule;
    private final Action action;
    private final boolean updated;
    private final GoneKeys keys;
    private final ChangedTable target;
    private final Evaluator[] defaults;

    /// A row as it is to be.
    private final VectorBatch next;

    Change(Rule rule, Action action, boolean updated, GoneKeys keys, ChangedTable target) {
      this.rule = rule;
      this.action = action;
      this.updated = updated;
      this.keys = keys;
      this.target = target;
      this.defaults =
          action == Action.SET_DEFAULT
              ? context.evaluators(rule.actions().defaults())
              : new Evaluator[0];
      this.next = VectorBatch.view(target.target().columns().size());
    }

    @Override
    public void visit(VectorBatch batch, ColumnVector[] references, int row, int key) {
      if (action == Action.CASCADE && !updated) {
        target.delete(batch.rowIds[row]);
        return;
      }
      next.heap.reset();
      for (int c = 0; c < next.columns.length; c++) {
        next.columns[c] = value(batch.columns[c].isNull(row), batch.columns[c].words[row]);
      }
      next.size = 1;
      context.functions.heap = next.heap;
      for (int i = 0; i < rule.referencing().columns().length; i++) {
        set(i, key);
      }
      target.generate(next);
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
      int column = rule.referencing().columns()[i];
      if (action == Action.CASCADE) {
        long word = keys.newWord(i, key);
        if (!ReferenceLookup.fits(rule.referencing().typeOids()[i], word)) {
          throw new EngineException(
              ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
              Types.name(rule.referencing().typeOids()[i]) + " out of range");
        }
        next.columns[column] = value(keys.isNewNull(i, key), word);
      } else if (updated || rule.actions().setColumns().contains(column)) {
        next.columns[column] =
            action == Action.SET_DEFAULT ? defaults[i].evaluate(next) : value(true, 0);
      }
    }

    @Override
    public void close() {
      next.close();
    }
  }
}
