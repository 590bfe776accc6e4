package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ForeignKey.Action;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.plan.UniqueKey;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowChanges;
import dev.kakehashi.engine.store.api.RowChanges.Before;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Looks at deferred constraints, foreign keys and unique ones ([UniqueKeys]), when their transaction commits or SET CONSTRAINTS asks for
/// it.
///
/// Rows that are to be looked at are not kept anywhere. They are the transaction's changes, as its list of writes has them for a rollback.
/// So deferred checks take no memory, and a rollback to a savepoint takes them back with the changes. Keys that went away are gathered and
/// looked for in portions.
public final class DeferredReferences implements Task {
  /// Keys of one portion.
  private static final int MOST_KEYS = 1 << 14;

  private final StatementScope scope;
  private final List<Deferred> deferred;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final MemoryAccount memory = new MemoryAccount();

  /// A constraint, and the mark from which on changes have not been looked at.
  public record Deferred(DeferrableConstraint constraint, long mark) {}

  /// @param deferred in the order in which they are looked at
  /// @param done gets 0 or the failure, exactly once
  public DeferredReferences(
      StatementScope scope,
      List<Deferred> deferred,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.scope = scope;
    this.deferred = deferred;
    this.done = done;
  }

  /// Whether a transaction has done something to a table that a constraint is still to look at.
  public static boolean isPending(
      Deferred each, long tableId, StoreTransaction transaction, Store store) {
    return switch (each.constraint) {
      case Rule rule -> isPending(rule, each.mark, tableId, transaction, store);
      case UniqueKey key ->
          key.tableId() == tableId && UniqueKeys.isPending(transaction, store, key, each.mark);
    };
  }

  private static boolean isPending(
      Rule rule, long mark, long tableId, StoreTransaction transaction, Store store) {
    if (rule.referencing().tableId() != tableId && rule.referenced().tableId() != tableId) {
      return false;
    }
    TableStore table = store.table(tableId);
    ReadView view = transaction.beginStatement();
    return (rule.referencing().tableId() == tableId
            && newReferences(rule, mark, transaction, table, view, row -> true))
        || (rule.referenced().tableId() == tableId
            && goneKeys(rule, mark, transaction, table, view, row -> true));
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    try {
      scope.checkCanceled();
      memory.open(scope.memoryLimitBytes(), scope.tempSpace(), scope::checkCanceled);
      deferred.forEach(this::check);
    } catch (RowConflict conflict) {
      return retryAfter(conflict, context);
    } catch (Throwable failed) {
      done.accept(null, RunFailures.report(failed));
      return null;
    } finally {
      scope.transaction().endLatest();
    }
    done.accept(0L, null);
    return null;
  }

  /// All again when the other transaction has ended.
  private @Nullable Task retryAfter(RowConflict conflict, TaskContext context) {
    try {
      Condition ended = scope.onConflict(conflict);
      scope.onCancel(ended::signal);
      return context.await(
          ended,
          again -> {
            scope.restart();
            return this;
          });
    } catch (Throwable refused) {
      done.accept(null, RunFailures.report(refused));
      return null;
    }
  }

  @Override
  public void discarded(Job job) {
    done.accept(null, RunFailures.canceled());
  }

  private void check(Deferred each) {
    switch (each.constraint) {
      case Rule rule -> check(rule, each.mark);
      case UniqueKey key ->
          UniqueKeys.require(
              scope.transaction(), scope.store(), key, each.mark, scope::checkCanceled);
    }
  }

  private void check(Rule rule, long mark) {
    StoreTransaction transaction = scope.transaction();
    TableStore table = scope.store().table(rule.referencing().tableId());
    ReadView view = scope.referenceView();
    try (ReferenceLookup lookup = new ReferenceLookup(rule, scope.store(), view)) {
      newReferences(
          rule,
          mark,
          transaction,
          table,
          view,
          row -> {
            scope.checkCanceled();
            lookup.requireLocked(row, 0, transaction);
            return false;
          });
    }
    ReadView latest = transaction.beginLatest();
    TableStore referenced = scope.store().table(rule.referenced().tableId());
    try (ReferenceLookup lookup = new ReferenceLookup(rule, scope.store(), latest);
        GoneKeys keys = new GoneKeys(rule, false, memory)) {
      goneKeys(
          rule,
          mark,
          transaction,
          referenced,
          latest,
          row -> {
            scope.checkCanceled();
            if (!lookup.exists(row.columns, 0)) {
              keys.add(row.columns);
              if (keys.size() == MOST_KEYS) {
                refuse(rule, latest, keys);
              }
            }
            return false;
          });
      refuse(rule, latest, keys);
    }
  }

  private void refuse(Rule rule, ReadView view, GoneKeys keys) {
    if (keys.size() > 0) {
      keys.build();
      ReferencingRows.refuse(scope, rule, view, keys);
      keys.close();
    }
  }

  /// Goes over rows whose references are new.
  ///
  /// @param each gets the columns of the rule, and says whether it is enough
  private static boolean newReferences(
      Rule rule,
      long mark,
      StoreTransaction transaction,
      TableStore table,
      ReadView view,
      Predicate<VectorBatch> each) {
    int width = rule.referencing().columns().length;
    RowChanges changes =
        transaction.changes(rule.referencing().tableId(), mark, rule.referencing().columns());
    try (VectorBatch before = VectorBatch.ofRows(width, 1);
        VectorBatch now = VectorBatch.ofRows(width, 1)) {
      while (changes.next()) {
        if (!changes.isLast()
            || !table.read(view, changes.rowId(), rule.referencing().columns(), now)) {
          continue;
        }
        // A row of its own may have been looked at never.
        boolean known =
            changes.before(before) == Before.COMMITTED
                && ReferenceLookup.isSame(
                    rule.referencing().typeOids(), before.columns, now.columns);
        if (!known && each.test(now)) {
          return true;
        }
      }
    }
    return false;
  }

  /// Goes over keys that went away, or were replaced, and are perhaps there again.
  ///
  /// @param each gets the columns of the key, and says whether it is enough
  private static boolean goneKeys(
      Rule rule,
      long mark,
      StoreTransaction transaction,
      TableStore referenced,
      ReadView view,
      Predicate<VectorBatch> each) {
    if (rule.actions().onDelete() != Action.NO_ACTION
        && rule.actions().onUpdate() != Action.NO_ACTION) {
      return false;
    }
    int width = rule.referencing().columns().length;
    int[] columns = rule.referenced().columns();
    RowChanges changes = transaction.changes(rule.referenced().tableId(), mark, columns);
    try (VectorBatch before = VectorBatch.ofRows(width, 1);
        VectorBatch now = VectorBatch.ofRows(width, 1)) {
      while (changes.next()) {
        if (changes.before(before) == Before.NOTHING || anyNull(before.columns)) {
          continue;
        }
        boolean present =
            referenced.read(view, changes.rowId(), columns, now)
                && ReferenceLookup.isSame(
                    rule.referenced().typeOids(), before.columns, now.columns);
        if (!present && each.test(before)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean anyNull(ColumnVector[] key) {
    for (ColumnVector column : key) {
      if (column.isNull(0)) {
        return true;
      }
    }
    return false;
  }
}
