package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.reference.ChangeLog;
import dev.kakehashi.engine.exec.reference.UniqueKeys;
import dev.kakehashi.engine.exec.rows.RowIdSet;
import dev.kakehashi.engine.plan.PhysicalPlan.Target;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.plan.UniqueKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Changes of a statement so far, as far as they matter when all of them are made. Foreign keys, deferrable unique keys, and rows that its
/// parts must not change twice need them.
///
/// Used by the thread that owns the run between stages, and by the one task that makes the changes.
public final class StatementChanges {
  private final RunContext context;

  /// Actions of foreign keys for changes, by the foreign keys of the changed table.
  private final IdentityHashMap<References, ReferentialActions> actions = new IdentityHashMap<>(0);

  /// Unique keys to be looked at when the changes are made, and marks before those.
  private final IdentityHashMap<UniqueKey, Long> uniqueKeys = new IdentityHashMap<>(0);

  private final List<PendingChanges> pending = new ArrayList<>(0);

  /// Changes of a part of the statement, and what foreign keys make of them.
  private record PendingChanges(ReferentialActions actions, ChangeLog log) {}

  /// By table, rows that the parts of the statement have changed; null: the statement has one part only.
  private @Nullable Map<Long, RowIdSet> changedRows;

  public StatementChanges(RunContext context) {
    this.context = context;
  }

  /// Begins a statement of several parts: a row that one of them changes is not changed by another.
  public void shareRows() {
    changedRows = new HashMap<>();
  }

  /// Rows of a table that parts of the statement have changed; null if it has one part only.
  @Nullable RowIdSet changedRows(long tableId) {
    return changedRows == null
        ? null
        : changedRows.computeIfAbsent(tableId, table -> new RowIdSet());
  }

  /// A log for the changes of the statement to a table that has foreign keys, or is referenced.
  ChangeLog newLog(Target target, References references) {
    ReferentialActions of = actions.get(references);
    if (of == null) {
      of = new ReferentialActions(context, this, references);
      actions.put(references, of);
    }
    ChangeLog log = of.newLog(target);
    pending.add(new PendingChanges(of, log));
    return log;
  }

  /// Notes that rows of a table are about to be changed whose unique keys are looked at afterwards.
  void note(Target target) {
    for (UniqueKey key : target.deferrableKeys()) {
      if (!context.scope().defers(key)) {
        uniqueKeys.putIfAbsent(key, context.scope().transaction().mark());
      }
    }
  }

  /// All changes of the statement are made: what foreign keys make of them, and whether unique keys still are.
  public void settle() {
    pending.forEach(each -> each.actions.settle(each.log));
    uniqueKeys.forEach((key, mark) ->
        UniqueKeys.require(
            context.scope().transaction(),
            context.scope().store(),
            key,
            mark,
            context.scope()::checkCanceled));
    forget();
  }

  /// Forgets the changes, which are settled or undone.
  public void forget() {
    uniqueKeys.clear();
    if (!pending.isEmpty()) {
      pending.clear();
      actions.values().forEach(ReferentialActions::close);
    }
  }
}
