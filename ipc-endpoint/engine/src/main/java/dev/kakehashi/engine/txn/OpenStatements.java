package dev.kakehashi.engine.txn;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The statements of a transaction that have begun and not ended, and the operation that waits for their end. Thread-safe.
///
/// Statements are added by the operation that has the transaction's turn: to it, an empty list stays empty.
final class OpenStatements {
  /// One of them; mostly there are no others. Guarded by this, as all here.
  private @Nullable StatementExecution one;

  private @Nullable List<StatementExecution> others;

  /// Statements whose end is waited for.
  private Predicate<StatementExecution> awaited = each -> false;

  private @Nullable Runnable whenEnded;

  synchronized boolean isEmpty() {
    return one == null && (others == null || others.isEmpty());
  }

  synchronized void add(StatementExecution execution) {
    if (one == null) {
      one = execution;
      return;
    }
    if (others == null) {
      others = new ArrayList<>(2);
    }
    others.add(execution);
  }

  /// A statement has ended.
  ///
  /// @return what has waited for its end and that of others, to be run by the caller
  @SuppressWarnings("ReferenceEquality") // the same execution
  synchronized @Nullable Runnable remove(StatementExecution execution) {
    if (one == execution) {
      one = null;
    } else if (others != null) {
      others.remove(execution);
    }
    Runnable waiting = whenEnded;
    if (waiting == null || list().stream().anyMatch(awaited)) {
      return null;
    }
    whenEnded = null;
    return waiting;
  }

  /// Statements that are open now.
  synchronized List<StatementExecution> list() {
    List<StatementExecution> open = new ArrayList<>();
    if (one != null) {
      open.add(one);
    }
    if (others != null) {
      open.addAll(others);
    }
    return open;
  }

  /// Has the continuation run when the last of some statements has ended, by the thread that ends it. Called by the operation that has the
  /// turn: one operation at a time waits.
  ///
  /// @return those that are open; empty: there are none, and the caller goes on itself
  synchronized List<StatementExecution> whenEnded(
      Predicate<StatementExecution> which, Runnable continuation) {
    List<StatementExecution> open = list().stream().filter(which).toList();
    if (!open.isEmpty()) {
      awaited = which;
      whenEnded = continuation;
    }
    return open;
  }
}
