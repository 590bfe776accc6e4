package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowChanges;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.table.HeldLocks;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A running transaction: what it reads by, and the list of its writes.
///
/// Rolling back takes the list from its end. Everything is used by one thread at a time except what says otherwise, and `readSet`, which
/// cursors on several threads fill.
public final class RowTransaction extends ReadingTransaction {
  private static final byte NOT_DEFERRABLE = 0;
  private static final byte WAITS_FOR_SNAPSHOT = 1;
  private static final byte HAS_SAFE_SNAPSHOT = 2;

  /// State of a deferrable transaction: it waits for a safe snapshot before it reads, or has one; 0: it is not deferrable. One byte,
  /// because each transaction has one. Written by its own thread; it never changes from or to 0.
  private byte deferral;

  /// How it was prepared; null: it was not. Written before the transaction enters the store's list of prepared ones.
  private volatile @Nullable TwoPhase twoPhase;

  /// Number that the record of its commit names it by; 0: none.
  private long reference;

  /// Command of the client that changes are made for; 0: none.
  private int command;

  /// Null: no change was made for a command of the client.
  private @Nullable OwnCommands commands;

  /// The undo log, in order; null: it has written nothing.
  private @Nullable WriteList writes;

  /// Garbage of its rolled back writes, for the collector.
  private @Nullable Garbage garbage;

  /// Its changes of the catalogue; null: none so far.
  private @Nullable CatalogChanges definitions;

  /// Null: it has not come to change queues. Made under `this`.
  private volatile @Nullable OwnQueues queues;

  /// Change of the number of rows per table; null: none so far.
  private @Nullable IdentityHashMap<RowTable, long[]> rowCounts;

  /// Whether its shared row locks are all known; false of one that an earlier version has prepared. Written before it enters the store's
  /// list of prepared ones.
  private boolean knowsLocks = true;

  /// Its shared row locks; null: none so far.
  private @Nullable HeldLocks heldLocks;

  private boolean committing;

  /// @param deferrable whether it is serializable, read-only, and waits for a safe snapshot
  /// @param readSet of a serializable one that may change something
  /// @param observed of a serializable one that is read-only, if others depend on what it reads
  RowTransaction(
      StoreTransactions store,
      long id,
      int slot,
      long snapshot,
      boolean readOnly,
      boolean deferrable,
      @Nullable ReadSet readSet,
      @Nullable ReadSet observed) {
    super(store, id, slot, snapshot, readOnly, readSet, observed);
    this.deferral = deferrable ? WAITS_FOR_SNAPSHOT : NOT_DEFERRABLE;
  }

  @Override
  public boolean hasSafeSnapshot(Runnable news) {
    if (deferral == WAITS_FOR_SNAPSHOT) {
      if (!store.committer().isSafe(this, news)) {
        return false;
      }
      deferral = HAS_SAFE_SNAPSHOT;
    }
    return true;
  }

  /// Whether it reads from a safe snapshot alone.
  boolean isDeferrable() {
    return deferral != NOT_DEFERRABLE;
  }

  @Override
  public List<Long> waitedFor() {
    return store.committer().waitedFor(this);
  }

  @Override
  public void reference(long number) {
    reference = number;
  }

  @Override
  public long heldSnapshot() {
    return twoPhase != null
        ? store.parts().clock().published()
        : store.parts().slots().pinned(slot);
  }

  @Override
  public ReadView beginStatement(int ofCommand) {
    OwnCommands own = commands;
    if (ofCommand == 0 || own == null || !own.hidesFrom(ofCommand)) {
      return beginStatement();
    }
    int number = nextStatement();
    return own.view(snapshot(), id(), number, ofCommand);
  }

  @Override
  public void changeFor(int ofCommand) {
    command = ofCommand;
  }

  /// Row writes in the lower half, changes of the catalogue and steps of [OwnQueues] and [HeldLocks] in the upper.
  @Override
  public long mark() {
    CatalogChanges defined = definitions;
    OwnQueues ofQueues = queues;
    int written = writes == null ? 0 : writes.size();
    int others = defined == null ? 0 : defined.size();
    if (ofQueues != null) {
      others = ofQueues.mark(others);
    }
    if (heldLocks != null) {
      others = heldLocks.mark(others);
    }
    return (long) others << Integer.SIZE | written;
  }

  @Override
  public boolean hasWrites() {
    return hasChanges() || reliedOn() > 0;
  }

  /// Whether there is anything to commit; of a running one any thread, approximately.
  boolean hasChanges() {
    WriteList written = writes;
    CatalogChanges defined = definitions;
    OwnQueues ofQueues = queues;
    return (written != null && written.size() > 0)
        || (defined != null && defined.size() > 0)
        || (ofQueues != null && !ofQueues.isEmpty());
  }

  // ---- the catalogue ----

  @Override
  public HeldLocks heldLocks() {
    HeldLocks present = heldLocks;
    if (present == null) {
      present = new HeldLocks();
      heldLocks = present;
    }
    return present;
  }

  /// Its shared row locks; null: it has taken none.
  @Nullable HeldLocks held() {
    return heldLocks;
  }

  /// Takes over row locks of a transaction that an earlier run has prepared.
  ///
  /// @param table null: it is gone
  public void recoverLocks(@Nullable RowTable table, long page, ByteBuffer locks) {
    PreparedLocks.restore(this, table, page, locks);
  }

  @Override
  public boolean knowsLocks() {
    return knowsLocks;
  }

  @Override
  public void define(Store.CatalogChange change) {
    checkWritable();
    redefine(change);
  }

  /// Makes a change of the catalogue, also again during recovery.
  public void redefine(Store.CatalogChange change) {
    CatalogChanges defined = definitions;
    if (defined == null) {
      defined = new CatalogChanges(this);
      definitions = defined;
    }
    defined.add(change);
  }

  @Override
  public QueueChanges queueChanges() {
    OwnQueues present = queues;
    if (present == null) {
      checkWritable();
      QueueSystem system = store.queues();
      if (system == null) {
        throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "this engine has no queues");
      }
      synchronized (this) {
        present = queues;
        if (present == null) {
          present = new OwnQueues(system.newChanges());
          queues = present;
        }
      }
    }
    return present.changes();
  }

  /// Its changes of queues; null: none.
  @Nullable OwnQueues queues() {
    OwnQueues present = queues;
    return present == null || present.isEmpty() ? null : present;
  }

  /// Takes over the changes of queues of a transaction that an earlier run has prepared.
  public void recoverQueues(QueueChanges changes) {
    OwnQueues recovered = new OwnQueues(changes);
    recovered.recovered();
    queues = recovered;
  }

  /// Its changes of the catalogue; null: none.
  @Nullable CatalogChanges defined() {
    return definitions;
  }

  /// Number that the record of its commit names it by; 0: none.
  long reference() {
    return reference;
  }

  @Override
  public List<Store.CatalogChange> definitions() {
    CatalogChanges defined = definitions;
    return defined == null ? List.of() : defined.changes();
  }

  @Override
  public Set<Long> changedTables() {
    Set<Long> tables = writes == null ? new HashSet<>() : writes.tables();
    if (heldLocks != null) {
      heldLocks.addTables(tables);
    }
    return tables;
  }

  @Override
  public RowChanges changes(long tableId, long mark, int[] columns) {
    return new OwnChanges(this, tableId, (int) mark, columns);
  }

  // ---- writing, called by the table ----

  @Override
  public void checkWritable() {
    checkRunning();
    if (readOnly) {
      throw new EngineException(
          ErrorCode.READ_ONLY_TRANSACTION, "cannot change rows in a read-only transaction");
    }
  }

  @Override
  public boolean logHasRoom(Runnable whenReady) {
    return store.logHasRoom(whenReady);
  }

  @Override
  public long stamp(boolean tombstone) {
    return Stamp.inFlight(slot, statement(), tombstone);
  }

  @Override
  public void logWrite(RowTable table, Page page, int rowSlot, long undo) {
    writes().add(table, page, rowSlot, undo);
  }

  @Override
  public void reserveWrite() {
    writes().reserve();
    OwnCommands own = commands;
    if (own == null) {
      if (command == 0) {
        return;
      }
      own = new OwnCommands();
      commands = own;
    }
    own.note(statement(), command);
  }

  @Override
  public void addWrites(RowTable table, WriteLog inserts) {
    writes().addAll(table, inserts);
  }

  @Override
  public void addRows(RowTable table, int count) {
    IdentityHashMap<RowTable, long[]> counts = rowCounts;
    if (counts == null) {
      counts = new IdentityHashMap<>(2);
      rowCounts = counts;
    }
    counts.computeIfAbsent(table, t -> new long[1])[0] += count;
  }

  @Override
  public Garbage garbage() {
    Garbage present = garbage;
    if (present == null) {
      present = new Garbage();
      garbage = present;
    }
    return present;
  }

  @Override
  public void rollbackTo(long mark) {
    if (mark < 0 || mark > mark() || (int) mark > (int) mark()) {
      throw new IllegalArgumentException("no such mark: " + mark);
    }
    OwnQueues ofQueues = queues;
    int others = (int) (mark >>> Integer.SIZE);
    if (heldLocks != null) {
      others = heldLocks.rollbackTo(this, others);
    }
    undo(ofQueues == null ? others : ofQueues.rollbackTo(others), (int) mark);
  }

  /// Takes back all but the first changes of the catalogue, and the first writes of rows.
  private void undo(int definedKept, int writesKept) {
    CatalogChanges defined = definitions;
    boolean together = canRetract();
    while (defined != null && defined.size() > definedKept) {
      writes().undo(this, defined.lastWrites(), together);
      defined.undoLast();
    }
    if (writes != null) {
      writes.undo(this, writesKept, together);
    }
    leaveRetracted();
  }

  @Override
  public boolean canRetract() {
    // The collector would come to the rows of such a table when it has its old layout again.
    return definitions == null || !definitions.reshapes();
  }

  @Override
  public void leaveRetracted() {
    Garbage taken = garbage == null ? null : garbage.takeRetracted();
    if (taken != null) {
      store.committer().retire(taken);
      store.collector().ready(taken);
    }
  }

  // ---- ending ----

  @Override
  public void commit(boolean stored, Consumer<@Nullable Throwable> done) {
    TwoPhase prepared = twoPhase;
    if (prepared != null) {
      checkNotEnded();
      prepared.commit(stored, done);
      return;
    }
    checkRunning();
    if (!hasChanges()) {
      RowConflict overtaken = store.committer().commitReader(this);
      if (overtaken != null) {
        abort();
        done.accept(overtaken);
        return;
      }
      finishWithoutWrites();
      if (stored) {
        // A commit is visible before it is durable: a crash must not take back what was read.
        store.committer().whenDurable(reliedOn(), newestRead(), done);
      } else {
        done.accept(null);
      }
      return;
    }
    Committer.Outcome outcome =
        CommitRecords.place(
            this,
            () -> CommitRecords.commit(this, null),
            record -> {
              committing = true;
              return store.committer().commit(this, record, stored, CommitErrors.inDoubt(done));
            },
            CommitErrors::notCommitted);
    Throwable refused = outcome.refused();
    if (refused != null) {
      committing = false;
      abort();
      done.accept(refused);
      return;
    }
    committed(outcome);
  }

  /// Makes its changes visible to others; the log has them already, for they are those of a primary.
  public void applied() {
    checkRunning();
    committing = true;
    committed(store.committer().applied(this));
  }

  /// It has its place in the order of commits.
  void committed(Committer.Outcome outcome) {
    writes().stamp(slot, outcome.timestamp());
    if (rowCounts != null) {
      rowCounts.forEach((table, count) -> table.addRowCount(count[0]));
    }
    writes().countChanges();
    if (definitions != null) {
      store.parts().clock().concernsAll(outcome.timestamp());
      definitions.publish();
    }
    OwnQueues ofQueues = queues;
    if (ofQueues != null) {
      ofQueues.ended(true);
    }
    end();
    store.collector().ready(outcome.garbage());
    store.committer().finished(outcome);
  }

  // ---- two-phase commit ----

  @Override
  public @Nullable Preparation preparation() {
    TwoPhase prepared = twoPhase;
    return prepared == null ? null : prepared.how();
  }

  @Override
  public void prepare(Preparation how, Consumer<@Nullable Throwable> done) {
    checkRunning();
    new TwoPhase(this, how).prepare(done);
  }

  @Override
  public void rollbackPrepared(Consumer<@Nullable Throwable> done) {
    TwoPhase prepared = twoPhase;
    if (prepared == null) {
      throw notRunning();
    }
    checkNotEnded();
    prepared.rollback(done);
  }

  private void checkNotEnded() {
    if (isEnded()) {
      throw notRunning();
    }
  }

  /// Takes over a transaction that an earlier run has prepared; its writes are [RowTable#replay]ed.
  void recoverPrepared(Preparation how, boolean withLocks) {
    committing = true;
    knowsLocks = withLocks;
    prepared(new TwoPhase(this, how));
  }

  /// It is prepared: it reads nothing any more, and waits for a decision.
  void prepared(TwoPhase decided) {
    twoPhase = decided;
    store.parts().slots().unpin(slot);
    store.prepared().add(this);
  }

  /// @param now whether it is on its way into the order of commits, and takes no statement
  void committing(boolean now) {
    committing = now;
  }

  @Override
  TableAdmission newAdmission() {
    return new TableAdmission(this);
  }

  @Override
  boolean isPrepared() {
    return twoPhase != null;
  }

  @Override
  boolean isCommitting() {
    return committing;
  }

  @Override
  public void abort() {
    if (isEnded() || committing) {
      return;
    }
    undoAll();
  }

  /// Takes everything back, and ends.
  void undoAll() {
    // Its changes of queues are given back as a whole, in whatever state they are.
    undo(0, 0);
    finishWithoutWrites();
  }

  private void finishWithoutWrites() {
    OwnQueues ofQueues = queues;
    if (ofQueues != null) {
      ofQueues.ended(false);
    }
    Garbage left = garbage;
    garbage = null;
    if (left == null) {
      end();
      return;
    }
    store.committer().retire(left);
    end();
    store.collector().ready(left);
  }

  /// The list of writes, for the collector and for validation of others; null if neither needs it.
  @Nullable Garbage commitGarbage(boolean keepAll) {
    Garbage left = garbage;
    garbage = null;
    if (keepAll || writes().replaces()) {
      left = left == null ? new Garbage() : left;
      writes().handTo(left);
    }
    return left;
  }

  /// Used by its own thread; by others when it is prepared.
  public WriteList writes() {
    WriteList present = writes;
    if (present == null) {
      present = new WriteList();
      writes = present;
    }
    return present;
  }

  /// Whether it has written rows of a table; asked by others when it is prepared.
  boolean hasWritten(RowTable table) {
    return writes != null && writes.contains(table);
  }

  private void end() {
    // Its commit is published: who has waited for these locks sees it.
    if (heldLocks != null) {
      heldLocks.release(this);
    }
    store.release(this);
    wakeAtEnd();
  }
}
