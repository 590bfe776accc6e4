package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.txn.ManagedTransaction;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A setting of a session, as SET says. Used by one thread at a time, as the session is.
///
/// A setting holds for the session from the moment at which a transaction sets it. When the transaction has ended, or gone back to a
/// savepoint, the setting stays or is forgotten. The next question looks that up.
final class SessionValue<T> {
  /// Value that SET has given.
  ///
  /// @param time of the transaction
  private record Said<T>(T value, boolean local, long time) {}

  private final T initial;
  private T settled;

  /// The transaction that has set what follows; null: none.
  private @Nullable ManagedTransaction setter;

  /// Values in the order of their SETs. Values that are hidden for good are left out.
  private final List<Said<T>> said = new ArrayList<>(0);

  SessionValue(T initial) {
    this.initial = initial;
    this.settled = initial;
  }

  /// @param value null: the one that the session began with
  /// @param local until the end of the transaction only
  void set(ManagedTransaction transaction, @Nullable T value, boolean local) {
    settle();
    if (!transaction.equals(setter)) {
      // Another transaction of the session is open: what that has set stays, whatever becomes of
      // it.
      settled = current();
      forget();
      setter = transaction;
    }
    long time = transaction.savepointTime();
    // No rollback goes back to a point between two settings of the same time.
    said.removeIf(each -> each.time() == time && (!local || each.local()));
    said.add(new Said<>(value == null ? initial : value, local, time));
  }

  T current() {
    settle();
    return said.isEmpty() ? settled : said.getLast().value();
  }

  private void settle() {
    ManagedTransaction transaction = setter;
    if (transaction == null) {
      return;
    }
    said.removeIf(each -> transaction.isUndone(each.time()));
    if (transaction.state() == EngineTransaction.State.ACTIVE) {
      return;
    }
    if (transaction.state() != EngineTransaction.State.ABORTED) {
      for (Said<T> each : said) {
        settled = each.local() ? settled : each.value();
      }
    }
    forget();
  }

  private void forget() {
    setter = null;
    said.clear();
  }
}
