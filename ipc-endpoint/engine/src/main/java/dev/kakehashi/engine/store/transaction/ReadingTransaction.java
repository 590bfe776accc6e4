package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.table.Writer;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// State of a transaction that changes nothing: its place among the others, its snapshot, the views of its statements, the tables that it
/// comes to, the commits that are durable before anybody relies on its reads, and its end.
///
/// Used by one thread at a time, except `ended` and `wakes`, which are guarded by `this`, and members that say otherwise.
abstract class ReadingTransaction implements Writer {
  final StoreTransactions store;
  final int slot;
  final boolean readOnly;

  /// Validated reads of a serializable transaction; null for others.
  final @Nullable ReadSet readSet;

  /// Reads of a read-only transaction that others are validated against; null: nothing depends on them. Becomes null under the commit lock,
  /// when its snapshot is known to be safe. A thread that has read the field before then may still note a read, which does no harm.
  private volatile @Nullable ReadSet observed;

  private final long id;

  private long pinned;
  private long snapshot;

  /// Number of its latest statement.
  private int statement;

  /// Record of the log that has to be durable with it; 0: none. Written under `this`.
  private volatile long reliedOn;

  /// Timestamp of the newest commit that it has read before that was durable; 0: none. Written under `this`.
  private volatile long seen;

  /// Null: it has come to change no table, and declares nothing. Made by its own thread; others look before it is used, see [#isInside].
  private volatile @Nullable TableAdmission admission;

  private boolean ended;

  /// Null: nobody waits.
  private @Nullable List<Runnable> wakes;

  ReadingTransaction(
      StoreTransactions store,
      long id,
      int slot,
      long snapshot,
      boolean readOnly,
      @Nullable ReadSet readSet,
      @Nullable ReadSet observed) {
    this.store = store;
    this.id = id;
    this.pinned = snapshot;
    this.snapshot = snapshot;
    this.slot = slot;
    this.readOnly = readOnly;
    this.readSet = readSet;
    this.observed = observed;
  }

  /// Where it will note which tables it changes.
  abstract TableAdmission newAdmission();

  /// Whether it waits for a decision.
  abstract boolean isPrepared();

  /// Whether it is on its way into the order of commits, and takes no statement.
  abstract boolean isCommitting();

  @Override
  public @Nullable ReadSet noted() {
    return readSet != null ? readSet : observed;
  }

  /// Nobody depends on what it reads any more. Under the commit lock.
  void stopNoting() {
    observed = null;
  }

  @Override
  public StoreParts parts() {
    return store.parts();
  }

  @Override
  public int slot() {
    return slot;
  }

  @Override
  public @Nullable ReadSet readSet() {
    return readSet;
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public long snapshot() {
    return snapshot;
  }

  /// The oldest snapshot of a view that may be in use: what it sees stays.
  long pinnedSnapshot() {
    return pinned;
  }

  @Override
  public void refreshSnapshot() {
    // The slot stays pinned at the first snapshot: views taken earlier stay valid.
    store.parts().slots().unbound(slot);
    snapshot = store.parts().clock().published();
    bound();
  }

  /// Lets the collector know that no later snapshot is in use. A serializable transaction is validated against all later versions.
  void bound() {
    if (readSet == null) {
      store.parts().slots().bound(slot, snapshot);
    }
  }

  @Override
  public void advanceSnapshot() {
    store.parts().slots().unbound(slot);
    if (readSet == null || claim() != null) {
      // In the order in which a transaction begins, see TransactionSlots.
      pinned = store.parts().clock().published();
      store.parts().slots().pin(slot, pinned);
    }
    snapshot = store.parts().clock().published();
    bound();
  }

  @Override
  public void letGoOfSnapshot() {
    if (readSet == null && claim() == null) {
      store.parts().slots().unpin(slot);
    }
  }

  @Override
  public ReadView beginStatement() {
    checkRunning();
    statement++;
    return new ReadView(snapshot, id, statement);
  }

  /// Begins one whose view is another.
  ///
  /// @return its number
  final int nextStatement() {
    checkRunning();
    return ++statement;
  }

  /// Number of its latest statement.
  final int statement() {
    return statement;
  }

  @Override
  public synchronized void reliesOn(long record) {
    if (record > reliedOn && !store.committer().isDurable(record)) {
      reliedOn = record;
    }
  }

  @Override
  public boolean hasUndurableReads() {
    return !store.committer().isDurableCommit(newestRead())
        || !store.committer().isDurable(reliedOn);
  }

  /// Record of the log that has to be durable with it; 0: none.
  final long reliedOn() {
    return reliedOn;
  }

  /// Timestamp of the newest commit that has to be durable with it, or one that is.
  final long newestRead() {
    return Math.max(seen, store.parts().clock().common());
  }

  @Override
  public synchronized void hasSeen(long timestamp) {
    seen = Math.max(seen, timestamp);
  }

  @Override
  public ReadView beginLatest() {
    checkRunning();
    store.parts().slots().unbound(slot);
    statement++;
    return new ReadView(store.parts().clock().published(), id, statement);
  }

  @Override
  public void endLatest() {
    bound();
  }

  final void checkRunning() {
    if (isCommitting() || isEnded()) {
      throw notRunning();
    }
  }

  final EngineException notRunning() {
    return new EngineException(
        ErrorCode.NO_SUCH_TRANSACTION, "transaction %d has ended".formatted(id));
  }

  // ---- long transactions ----

  /// Called by its own thread.
  TableAdmission admission() {
    TableAdmission present = admission;
    if (present == null) {
      present = newAdmission();
      admission = present;
    }
    return present;
  }

  /// Its claim as a long transaction; null: it is none.
  LongTransactions.@Nullable Claim claim() {
    TableAdmission present = admission;
    return present == null ? null : present.claim();
  }

  /// Whether it has come to change the table. Any thread: it enters the table, by volatile writes, before it looks at what others have
  /// declared.
  boolean isInside(long tableId) {
    TableAdmission present = admission;
    return present != null && present.isInside(tableId);
  }

  @Override
  public boolean isInside(Set<Long> tables) {
    // Another long one is inside its own area only, and is waited for, or not, by its claim.
    return (claim() == null || isPrepared()) && tables.stream().anyMatch(this::isInside);
  }

  @Override
  public void enter(RowTable table) {
    admission().enter(table);
  }

  @Override
  public void reenter(RowTable table) {
    admission().reenter(table);
  }

  /// It keeps nothing from others any more.
  void endClaim() {
    TableAdmission present = admission;
    if (present != null) {
      present.endClaim();
    }
  }

  @Override
  public long epoch() {
    LongTransactions.Claim claim = claim();
    return claim == null ? 0 : claim.epoch();
  }

  @Override
  public boolean mayBegin(Set<Long> tables, boolean viewsInUse, Runnable whenReady) {
    return switch (admission().acquire(tables, whenReady)) {
      case WAIT -> false;
      case READY -> true;
      case NEW_SNAPSHOT -> {
        // Tables that were read before have not changed since, so a new snapshot shows the same
        // rows of them.
        if (viewsInUse) {
          refreshSnapshot();
        } else {
          advanceSnapshot();
        }
        yield true;
      }
    };
  }

  @Override
  public boolean mayCommit(Runnable whenReady) {
    return admission().mayCommit(whenReady);
  }

  // ---- its end ----

  @Override
  public synchronized boolean isEnded() {
    return ended;
  }

  @Override
  public void whenEnded(Runnable wake) {
    synchronized (this) {
      if (!ended) {
        if (wakes == null) {
          wakes = new ArrayList<>(1);
        }
        wakes.add(wake);
        return;
      }
    }
    wake.run();
  }

  /// Wakes those who wait for its end.
  final void wakeAtEnd() {
    List<Runnable> toWake;
    synchronized (this) {
      ended = true;
      toWake = wakes;
      wakes = null;
    }
    if (toWake != null) {
      toWake.forEach(Runnable::run);
    }
  }
}
