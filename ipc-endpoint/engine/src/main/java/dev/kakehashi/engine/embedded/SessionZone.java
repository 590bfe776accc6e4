package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.sql.statement.SessionSetting;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.type.time.Zone;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The time zone of a session, as SET says. Used by one thread at a time, as the session is.
///
/// What a transaction sets holds for the session from then on. When the transaction has ended, or gone back to a savepoint, it stays or is forgotten, which is looked
/// up when somebody asks next.
final class SessionZone {
  /// What SET said.
  ///
  /// @param time of the transaction
  private record Said(Zone zone, boolean local, long time) {}

  private final Zone initial;
  private Zone settled;

  /// The transaction that has set what follows; null: none.
  private @Nullable ManagedTransaction setter;

  /// In the order in which it was said. What is hidden for good is left out.
  private final List<Said> said = new ArrayList<>(0);

  SessionZone(Zone initial) {
    this.initial = initial;
    this.settled = initial;
  }

  void set(ManagedTransaction transaction, SessionSetting setting) {
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
    said.removeIf(each -> each.time() == time && (!setting.local() || each.local()));
    said.add(new Said(setting.zone() == null ? initial : setting.zone(), setting.local(), time));
  }

  Zone current() {
    settle();
    return said.isEmpty() ? settled : said.getLast().zone();
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
      for (Said each : said) {
        settled = each.local() ? settled : each.zone();
      }
    }
    forget();
  }

  private void forget() {
    setter = null;
    said.clear();
  }
}
