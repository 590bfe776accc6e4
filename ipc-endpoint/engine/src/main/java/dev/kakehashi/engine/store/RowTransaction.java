package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.GarbageCollector.Garbage;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A running transaction: its snapshot and the list of its writes.
///
/// The list is the undo log in order; a write is a page, a row slot, and the undo record of what was there (0: nothing, an insert). Rolling back
/// takes it from the end. Everything is used by one thread at a time except `ended` and `wakes`, which are guarded by `this`, and `readSet`,
/// which cursors on several threads fill.
final class RowTransaction implements StoreTransaction {
  /// Stands for a transaction that has ended.
  static final StoreTransaction ENDED = new EndedTransaction();

  private static final int STAMPS_PER_LATCH = 64;

  final MemoryStore store;
  final int slot;
  final boolean readOnly;

  /// What a serializable transaction has read; null for others.
  final @Nullable ReadSet readSet;

  private final long id;
  private final long pinned;
  private long snapshot;
  private int statement;

  private Page[] pages = new Page[8];
  private int[] rowSlots = new int[8];
  private long[] undos = new long[8];
  private int writes;

  /// What its rolled back writes have left, for the collector.
  private @Nullable Garbage garbage;

  /// Change of the number of rows per table.
  private final IdentityHashMap<RowTable, long[]> rowCounts = new IdentityHashMap<>(2);

  private boolean ended;
  private boolean committing;
  private List<Runnable> wakes = new ArrayList<>(0);

  RowTransaction(
      MemoryStore store, long id, int slot, long snapshot, boolean readOnly, boolean serializable) {
    this.store = store;
    this.id = id;
    this.pinned = snapshot;
    this.snapshot = snapshot;
    this.slot = slot;
    this.readOnly = readOnly;
    this.readSet = serializable && !readOnly ? new ReadSet() : null;
  }

  @Override
  public long id() {
    return id;
  }

  long snapshot() {
    return snapshot;
  }

  /// The first snapshot: all that its views may see stays until the transaction ends.
  long pinnedSnapshot() {
    return pinned;
  }

  @Override
  public void refreshSnapshot() {
    // The slot stays pinned at the first snapshot: views taken earlier stay valid.
    snapshot = store.published();
  }

  @Override
  public ReadView beginStatement() {
    checkRunning();
    statement++;
    return new ReadView(snapshot, id, statement);
  }

  @Override
  public long mark() {
    return writes;
  }

  @Override
  public boolean hasWrites() {
    return writes > 0;
  }

  // ---- writing, called by the table ----

  void checkWritable() {
    checkRunning();
    if (readOnly) {
      throw new EngineException(
          ErrorCode.READ_ONLY_TRANSACTION, "cannot change rows in a read-only transaction");
    }
  }

  private void checkRunning() {
    if (committing || isEnded()) {
      throw new EngineException(
          ErrorCode.NO_SUCH_TRANSACTION, "transaction %d has ended".formatted(id));
    }
  }

  long stamp(boolean tombstone) {
    return Stamp.inFlight(slot, statement, tombstone);
  }

  void logWrite(Page page, int rowSlot, long undo) {
    pages[writes] = page;
    rowSlots[writes] = rowSlot;
    undos[writes] = undo;
    writes++;
  }

  /// Makes room for one more write, so that logging it cannot fail after it was made.
  void reserveWrite() {
    if (writes == undos.length) {
      int capacity = writes * 2;
      pages = java.util.Arrays.copyOf(pages, capacity);
      rowSlots = java.util.Arrays.copyOf(rowSlots, capacity);
      undos = java.util.Arrays.copyOf(undos, capacity);
    }
  }

  void addRows(RowTable table, int count) {
    rowCounts.computeIfAbsent(table, t -> new long[1])[0] += count;
  }

  Garbage garbage() {
    Garbage present = garbage;
    if (present == null) {
      present = new Garbage();
      garbage = present;
    }
    return present;
  }

  @Override
  public void rollbackTo(long mark) {
    if (mark < 0 || mark > writes) {
      throw new IllegalArgumentException("no such mark: " + mark);
    }
    while (writes > mark) {
      writes--;
      Page page = pages[writes];
      page.table.undoWrite(this, page, rowSlots[writes], undos[writes]);
    }
  }

  // ---- ending ----

  @Override
  public void commit(boolean stored, Consumer<@Nullable Throwable> done) {
    checkRunning();
    if (writes == 0) {
      finishWithoutWrites();
      done.accept(null);
      return;
    }
    LogRecord record;
    try {
      record = encodeWrites();
    } catch (LogRecord.LogRecordTooLarge e) {
      abort();
      done.accept(
          new EngineException(
              ErrorCode.LIMIT_EXCEEDED, "transaction has changed more than 2 GB of rows"));
      return;
    } catch (RuntimeException | OutOfMemoryError e) {
      abort();
      done.accept(e);
      return;
    }
    committing = true;
    Committer.Outcome outcome = store.committer().commit(this, record, stored, done);
    Throwable refused = outcome.refused();
    if (refused != null) {
      committing = false;
      abort();
      done.accept(refused);
      return;
    }
    stampWrites(outcome.timestamp());
    rowCounts.forEach((table, count) -> table.addRowCount(count[0]));
    end();
    store.collector().ready(outcome.garbage());
    store.committer().finished(outcome);
  }

  @Override
  public void abort() {
    if (isEnded() || committing) {
      return;
    }
    if (writes == 0) {
      finishWithoutWrites();
      return;
    }
    rollbackTo(0);
    finishWithoutWrites();
  }

  private void finishWithoutWrites() {
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
    boolean replaces = keepAll;
    for (int i = 0; i < writes && !replaces; i++) {
      replaces = undos[i] != 0;
    }
    if (replaces) {
      left = left == null ? new Garbage() : left;
      left.setWrites(pages, rowSlots, undos, writes);
    }
    return left;
  }

  /// Replaces the stamps of all writes by the timestamp; neighbours in a page under one latch, but not so many that readers wait.
  private void stampWrites(long timestamp) {
    int at = 0;
    while (at < writes) {
      Page page = pages[at];
      int end = Math.min(writes, at + STAMPS_PER_LATCH);
      page.latch();
      while (at < end && pages[at] == page) {
        page.table.stampCommitted(this, page, rowSlots[at], timestamp);
        at++;
      }
      page.unlatch();
    }
  }

  private LogRecord encodeWrites() {
    LogRecord record = new LogRecord(64 * Math.min(writes, 1 << 16));
    for (int i = 0; i < writes; i++) {
      // Of several writes to one row the last one stands at the head of the chain.
      if (pages[i].undo(rowSlots[i]) == undos[i]) {
        RowCodec.encode(pages[i], rowSlots[i], record);
      }
    }
    return record;
  }

  private void end() {
    store.release(this);
    List<Runnable> toWake;
    synchronized (this) {
      ended = true;
      toWake = wakes;
      wakes = List.of();
    }
    toWake.forEach(Runnable::run);
  }

  @Override
  public synchronized boolean isEnded() {
    return ended;
  }

  @Override
  public void whenEnded(Runnable wake) {
    synchronized (this) {
      if (!ended) {
        wakes.add(wake);
        return;
      }
    }
    wake.run();
  }

  /// A transaction of which only its end is known.
  private static final class EndedTransaction implements StoreTransaction {
    @Override
    public long id() {
      return 0;
    }

    @Override
    public void refreshSnapshot() {}

    @Override
    public ReadView beginStatement() {
      throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has ended");
    }

    @Override
    public long mark() {
      return 0;
    }

    @Override
    public void rollbackTo(long mark) {}

    @Override
    public boolean hasWrites() {
      return false;
    }

    @Override
    public void commit(boolean stored, Consumer<@Nullable Throwable> done) {
      done.accept(new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has ended"));
    }

    @Override
    public void abort() {}

    @Override
    public boolean isEnded() {
      return true;
    }

    @Override
    public void whenEnded(Runnable wake) {
      wake.run();
    }
  }
}
