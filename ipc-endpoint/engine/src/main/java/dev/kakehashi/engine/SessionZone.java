package dev.kakehashi.engine;

import dev.kakehashi.engine.api.Transaction;
import dev.kakehashi.engine.sql.SessionSetting;
import dev.kakehashi.engine.type.time.Zone;
import org.jspecify.annotations.Nullable;

/// The time zone of a session, as SET says. Used by one thread at a time, as the session is.
///
/// What a transaction sets holds for the session from then on. When the transaction has ended it stays or is forgotten, which is looked
/// up when somebody asks next. A rollback to a savepoint does not undo it.
final class SessionZone {
  private final Zone initial;
  private Zone settled;

  /// The transaction that has set what follows; null: none.
  private @Nullable Transaction setter;

  private @Nullable Zone pending;
  private @Nullable Zone local;

  SessionZone(Zone initial) {
    this.initial = initial;
    this.settled = initial;
  }

  void set(Transaction transaction, SessionSetting setting) {
    settle();
    if (!transaction.equals(setter)) {
      // Another transaction of the session is open: what that has set stays, whatever becomes of
      // it.
      settled = current();
      forget();
      setter = transaction;
    }
    Zone zone = setting.zone() == null ? initial : setting.zone();
    if (setting.local()) {
      local = zone;
    } else {
      pending = zone;
      local = null;
    }
  }

  Zone current() {
    settle();
    return local != null ? local : pending != null ? pending : settled;
  }

  private void settle() {
    Transaction transaction = setter;
    if (transaction == null || transaction.state() == Transaction.State.ACTIVE) {
      return;
    }
    if (transaction.state() != Transaction.State.ABORTED && pending != null) {
      settled = pending;
    }
    forget();
  }

  private void forget() {
    setter = null;
    pending = null;
    local = null;
  }
}
