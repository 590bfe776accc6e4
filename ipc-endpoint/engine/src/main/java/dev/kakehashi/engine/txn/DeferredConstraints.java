package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.ForeignKey.Timing;
import dev.kakehashi.engine.exec.reference.DeferredReferences;
import dev.kakehashi.engine.exec.reference.DeferredReferences.Deferred;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.sql.statement.SetConstraints;
import dev.kakehashi.engine.sql.table.ReferenceBinder;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.scheduler.Task;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Which foreign keys a transaction looks at when it commits, and from which of its changes on. A setting of SET CONSTRAINTS holds until
/// the transaction ends, and is undone by a rollback to a savepoint. Used by the operation that has the transaction's turn.
final class DeferredConstraints {
  /// State at a moment; immutable.
  ///
  /// @param all what was said of all constraints; null: nothing
  /// @param named what was said of some since, by constraintId
  /// @param marks by constraintId, where the changes begin that are still to be looked at
  record State(@Nullable Boolean all, Map<Long, Boolean> named, Map<Long, Long> marks) {
    static final State NONE = new State(null, Map.of(), Map.of());
  }

  private State state = State.NONE;

  State state() {
    return state;
  }

  void restore(State earlier) {
    state = earlier;
  }

  /// Whether nothing is to be looked at.
  boolean isEmpty() {
    return state.marks.isEmpty();
  }

  /// Whether a constraint is deferred. If so, changes from `mark` on are to be looked at.
  boolean defers(DeferrableConstraint constraint, long mark) {
    if (constraint.timing() == Timing.NOT_DEFERRABLE) {
      return false;
    }
    Boolean said = state.named.getOrDefault(constraint.constraintId(), state.all);
    boolean defers = said == null ? constraint.timing() == Timing.INITIALLY_DEFERRED : said;
    if (defers && !state.marks.containsKey(constraint.constraintId())) {
      Map<Long, Long> marks = new TreeMap<>(state.marks);
      marks.put(constraint.constraintId(), mark);
      state = new State(state.all, state.named, marks);
    }
    return defers;
  }

  /// Constraints that are to be looked at, in the order in which they were made. Constraints that are gone are left out.
  ///
  /// @param constraints null: all
  List<Deferred> pending(@Nullable Collection<Long> constraints, CatalogSnapshot catalog) {
    List<Deferred> pending = new ArrayList<>();
    state.marks.forEach((id, mark) -> {
      DeferrableConstraint constraint =
          constraints == null || constraints.contains(id)
              ? ReferenceBinder.constraint(id, catalog)
              : null;
      if (constraint != null) {
        pending.add(new Deferred(constraint, mark));
      }
    });
    return pending;
  }

  /// Whether changes of a table are to be looked at.
  boolean isPending(
      long tableId, CatalogSnapshot catalog, StoreTransaction transaction, Store store) {
    return pending(null, catalog).stream()
        .anyMatch(each -> DeferredReferences.isPending(each, tableId, transaction, store));
  }

  /// The task of SET CONSTRAINTS: what is no longer deferred is looked at.
  Task set(
      SetConstraints statement,
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    CatalogSnapshot catalog = execution.catalog();
    Set<Long> constraints = statement.constraints(catalog);
    return new DeferredReferences(
        execution,
        statement.deferred() ? List.of() : pending(constraints, catalog),
        (count, failure) -> {
          if (failure == null) {
            set(constraints, statement.deferred());
          }
          done.accept(count, failure);
        });
  }

  /// SET CONSTRAINTS. Constraints that become immediate have been looked at.
  ///
  /// @param constraints null: all
  private void set(@Nullable Collection<Long> constraints, boolean deferred) {
    Map<Long, Boolean> named = constraints == null ? Map.of() : new TreeMap<>(state.named);
    Map<Long, Long> marks = new TreeMap<>(state.marks);
    if (constraints == null) {
      if (!deferred) {
        marks.clear();
      }
    } else {
      for (long id : constraints) {
        named.put(id, deferred);
        if (!deferred) {
          marks.remove(id);
        }
      }
    }
    state = new State(constraints == null ? Boolean.valueOf(deferred) : state.all, named, marks);
  }
}
