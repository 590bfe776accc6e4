package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.memory.BlockList;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.version.Snapshots;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.protocol.Threads;
import dev.kakehashi.scheduler.platform.BackgroundWork;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Frees what nobody can read any more: undo records, replaced values, index entries of old versions, slots of deleted rows.
///
/// Every transaction that ends with writes leaves its garbage in a queue, in the order of timestamps (an abort takes a timestamp too).
/// Garbage of timestamp t goes when the horizon is at least t. The horizon is the least snapshot of any running transaction, and below all
/// commits that are not durable yet. So a transaction that finds a row gone also finds the commit that deleted it, as long as a crash can
/// undo that commit.
///
/// * of a commit t: everybody sees its versions or newer ones, so nobody walks past them to the versions that they replaced. The pointers
///   to the freed records stay where they are; no reader follows them, because it stops at the version above.
/// * of an abort t: it was taken out of pages and chains before t; a reader that may have copied a pointer to it began before t.
///
/// Index entries need more: the key of an old version may have come back in a newer one. So each entry is looked at under the latch of the
/// row's page. It is removed only if no version that may be needed has its key. A writer puts its version into the page, under the latch,
/// before it makes the entry: either the collector sees the version and leaves the entry, or the writer makes the entry after the collector
/// removed it. An entry that is left for a version goes with that version: the one that has replaced it has another key, or is taken back
/// itself.
///
/// Entries of versions that were taken back wait for no timestamp. Only their own transaction has seen these versions. The entries need the
/// same look, by the holder of `freeing`: only it knows where in a chain the freed records begin. If a transaction takes back so many
/// changes that their keys would fill the heap, it drops these entries meanwhile, see [#dropMany].
///
/// **Inserts that were taken back.** A transaction that takes back very many of them removes them from their pages only ([Page#retract]):
/// nobody sees them any more. Their entries and slots are left here, and wait for no timestamp, because nobody else has seen them. A slot
/// is freed when its entries are gone, so they cannot lead to another row. Their values wait for the timestamp, as all others.
///
/// **Versions in between.** A version that was replaced after the horizon goes too if all snapshots in use are older or newer, and so none
/// sees it. A [ChainPruner] takes it out of its chain, and its memory is free when [Readers] says so. A look through the queue costs in
/// proportion to its length, so there is one whenever the queue has doubled.
///
/// One thread frees at a time, the holder of `freeing`: the collector's own thread or a committer that helps when the queue has grown long.
public final class GarbageCollector implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GarbageCollector.class);

  /// Writes in the queue above which committers help.
  private static final long HELP_WRITES = 100_000;

  /// Writes that wake the thread before its time.
  private static final long WAKE_WRITES = 4_096;

  /// Writes that the queue has to grow by, at least, before it is looked through for versions in between.
  private static final long PRUNE_WRITES = 4_096;

  /// Noted entries, in bytes, from which on a rollback drops them itself if nobody frees right now.
  private static final int MANY_ENTRY_BYTES = 64 << 10;

  /// Noted entries, in bytes, from which on a rollback waits for the thread that frees.
  private static final int MOST_ENTRY_BYTES = 8 << 20;

  /// How long [#collect()] waits for readers of chains, and for transactions that are about to leave their garbage.
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /// The same for a caller that gets no memory otherwise. Readers wait for nothing but a processor, which on a busy machine takes a
  /// while.
  private static final long GRACE_FOR_MEMORY_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long FIRST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long LAST_DELAY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final StoreParts store;
  private final MemoryPool pool;
  private final ConcurrentLinkedQueue<Garbage> queue = new ConcurrentLinkedQueue<>();

  /// Garbage of transactions that have changed nothing in the end; it waits for nothing to become durable.
  private final ConcurrentLinkedQueue<Garbage> retired = new ConcurrentLinkedQueue<>();

  /// Retired garbage that has slots to be freed.
  private final ConcurrentLinkedQueue<Garbage> retracted = new ConcurrentLinkedQueue<>();

  private final AtomicLong queuedWrites = new AtomicLong();
  private final ReentrantLock freeing = new ReentrantLock();

  // Guarded by freeing.
  private final BlockList limbo = new BlockList();
  private Readers.@Nullable Grace grace;
  private long pruneAt = PRUNE_WRITES;

  /// Greatest horizon so far. A transaction that begins may pin less for a moment, and takes its snapshot above.
  private long reached;

  /// The same without regard to what is durable.
  private long seenByAll;

  /// Commits up to here count as durable: memory was needed.
  private long neededUpTo;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition wake = lock.newCondition();
  private volatile boolean idle;
  private volatile boolean stopping;
  private final Thread thread;

  public GarbageCollector(StoreParts store) {
    this.store = store;
    this.pool = store.pool();
    thread = new Thread(this::run, "kakehashi-store-gc");
    thread.setDaemon(true);
  }

  /// Begins to free in the background; the store is complete by now.
  public void start() {
    thread.start();
  }

  /// Queues garbage; the caller holds the lock that orders timestamps, and calls [#ready] afterwards.
  public void add(Garbage garbage, long timestamp) {
    garbage.timestamp(timestamp);
    queue.add(garbage);
  }

  /// Queues what an aborted transaction, or a dropped table, leaves.
  public void addRetired(Garbage garbage, long timestamp) {
    garbage.timestamp(timestamp);
    if (garbage.hasRetracted()) {
      retracted.add(garbage);
    }
    retired.add(garbage);
  }

  /// The transaction has ended and its rows are stamped.
  public void ready(@Nullable Garbage garbage) {
    if (garbage == null) {
      return;
    }
    long queued = queuedWrites.addAndGet(garbage.weight());
    garbage.ready();
    if (queued > HELP_WRITES && freeing.tryLock()) {
      try {
        free();
      } finally {
        freeing.unlock();
      }
    } else if (idle
        && (queued > WAKE_WRITES || queued == garbage.weight() || !retracted.isEmpty())) {
      signal();
    }
  }

  /// Drops the index entries that a running transaction has noted, if they are many. Called by its thread, with no lock or latch of the
  /// store's; nobody else knows the garbage.
  public void dropMany(Garbage garbage) {
    StaleEntries noted = garbage.entries();
    if (noted == null || noted.bytes() < MANY_ENTRY_BYTES) {
      return;
    }
    if (noted.bytes() >= MOST_ENTRY_BYTES) {
      freeing.lock();
    } else if (!freeing.tryLock()) {
      return;
    }
    try {
      long horizon = horizon();
      collects(horizon);
      noted.drop(horizon);
    } finally {
      freeing.unlock();
    }
  }

  /// Changes whose garbage was not freed yet.
  public long queuedWrites() {
    return queuedWrites.get();
  }

  /// Garbage that was not freed yet, in order; whoever runs a transaction finds all that is younger than its snapshot.
  public Iterable<Garbage> pending() {
    return queue;
  }

  /// Frees what nobody sees, also if it is not durable that it was replaced: all who read depend on that then, see
  /// [dev.kakehashi.engine.store.version.CommitClock#concernsAll].
  public void collectForMemory() {
    freeing.lock();
    try {
      neededUpTo = store.clock().published();
      store.clock().concernsAll(neededUpTo);
      collect(GRACE_FOR_MEMORY_NANOS);
    } finally {
      freeing.unlock();
    }
  }

  /// Frees what can be freed now.
  public void collect() {
    collect(GRACE_NANOS);
  }

  private void collect(long graceNanos) {
    freeing.lock();
    try {
      freeReady();
      prune();
      long deadline = System.nanoTime() + graceNanos;
      for (int spins = 0; isAwaited() || !leaveLimbo() || !pool.tidy(); spins++) {
        if (System.nanoTime() - deadline >= 0) {
          break;
        }
        Page.pause(spins);
        freeReady();
      }
    } finally {
      freeing.unlock();
    }
  }

  private void freeReady() {
    boolean more = true;
    while (more) {
      more = vacateSome();
    }
    free();
  }

  /// Whether a transaction that comes first has a timestamp, and stamps its rows still.
  private boolean isAwaited() {
    Garbage first = queue.peek();
    Garbage firstRetired = retired.peek();
    return (first != null && !first.isReady()) || (firstRetired != null && !firstRetired.isReady());
  }

  /// Runs something during which nothing is freed.
  ///
  /// @param action gets a horizon below which nothing is needed and above which nothing is freed
  public void whileNothingIsFreed(LongConsumer action) {
    freeing.lock();
    try {
      action.accept(horizon());
    } finally {
      freeing.unlock();
    }
  }

  private long horizon() {
    seenByAll = Math.max(seenByAll, store.horizon());
    reached = Math.max(reached, Math.min(seenByAll, limit()));
    return reached;
  }

  /// Timestamp up to which commits that were published before this call may be treated as durable. It never falls for commits that were
  /// published before.
  private long limit() {
    return Math.max(neededUpTo, store.groupCommit().durableUpTo());
  }

  /// Frees what was taken out of chains, if nobody can be looking at it any more.
  ///
  /// @return whether nothing is left of it
  private boolean leaveLimbo() {
    if (grace != null && grace.isOver()) {
      grace = null;
      limbo.free(pool);
    }
    return grace == null;
  }

  /// Takes versions that nobody sees out of the middle of chains.
  private void prune() {
    if (!leaveLimbo() || queue.isEmpty()) {
      return;
    }
    long horizon = horizon();
    long published = store.clock().published();
    // Somewhere above the limit the horizon may come to lie, as if there were a snapshot: what is
    // only seen from there stays in its chain, or an index entry would be taken for needed by the
    // version below. Looked at after `published`, for which it says something.
    Snapshots snapshots = store.slots().snapshots(published, horizon, limit());
    ChainPruner pruner = new ChainPruner(snapshots, limbo);
    List<Garbage> found = new ArrayList<>();
    for (Garbage each : queue) {
      if (each.isReady() && each.timestamp() <= snapshots.published() && each.mark(snapshots)) {
        found.add(each);
      }
    }
    for (Garbage each : found) {
      store.clock().collects(each.timestamp());
    }
    found.forEach(each -> each.prune(pruner, snapshots));
    Set<Garbage> empty = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Garbage each : found) {
      if (each.forgetRemoved()) {
        empty.add(each);
        queuedWrites.addAndGet(-each.weight());
      }
    }
    queue.removeIf(empty::contains);
    pruneAt = 2 * queuedWrites.get() + PRUNE_WRITES;
    if (limbo.count() > 0) {
      grace = store.chainReaders().new Grace();
      leaveLimbo();
    }
  }

  /// Frees some slots of inserts that were taken back.
  ///
  /// @return whether there may be more
  private boolean vacateSome() {
    Garbage first = retracted.peek();
    if (first == null || !first.isReady()) {
      return false;
    }
    first.vacateSome();
    if (first.isVacated()) {
      retracted.remove();
    }
    return true;
  }

  private boolean free() {
    long horizon = horizon();
    boolean any = free(queue, horizon, horizon);
    return free(retired, seenByAll, horizon) || any;
  }

  /// Says to readers in other processes that entries go which versions of before the horizon have: also one of a version that was taken
  /// back may be that of an older one. Changes up to the horizon are durable, but for those that [#collectForMemory] tells them of.
  private void collects(long horizon) {
    store.clock().collects(Math.min(horizon, store.groupCommit().durableTimestamp()));
  }

  /// Frees garbage up to a timestamp.
  private boolean free(ConcurrentLinkedQueue<Garbage> from, long upTo, long horizon) {
    boolean any = false;
    Garbage next = from.peek();
    while (next != null && next.isReady() && next.timestamp() <= upTo && mayGo(next)) {
      if (!any) {
        collects(horizon);
      }
      from.remove();
      queuedWrites.addAndGet(-next.weight());
      next.free(pool, horizon);
      any = true;
      next = from.peek();
    }
    return any;
  }

  /// Whether no slots come first: those of its own, and, of a table that is freed as a whole, those that lead to values which nobody would
  /// find afterwards.
  private boolean mayGo(Garbage garbage) {
    return garbage.isVacated() && (!garbage.hasActions() || retracted.isEmpty());
  }

  /// Frees the slots of all inserts that were taken back: maybe of millions, so others may free in between.
  private void vacate() {
    boolean more = !retracted.isEmpty();
    while (more && !stopping) {
      freeing.lock();
      try {
        more = vacateSome();
      } catch (RuntimeException | Error e) {
        LOG.error("freeing rows that were taken back failed", e);
      } finally {
        freeing.unlock();
      }
    }
  }

  private void run() {
    BackgroundWork.begin();
    long delay = FIRST_DELAY_NANOS;
    while (!stopping) {
      vacate();
      boolean any = false;
      boolean tidy = true;
      freeing.lock();
      try {
        any = free();
        pruneAt = Math.min(pruneAt, 2 * queuedWrites.get() + PRUNE_WRITES);
        if (queuedWrites.get() >= pruneAt) {
          prune();
          any = true;
        } else {
          leaveLimbo();
        }
        tidy = pool.tidy();
      } catch (RuntimeException | Error e) {
        // The garbage that was being freed is lost to this process; going on is better than never
        // freeing again.
        LOG.error("garbage collection failed", e);
      } finally {
        freeing.unlock();
      }
      delay = any ? FIRST_DELAY_NANOS : Math.min(LAST_DELAY_NANOS, delay * 2);
      await(delay, tidy);
    }
  }

  /// Waits for garbage; while there is some that somebody may still read, for the delay.
  ///
  /// @param tidy nothing else is left
  @SuppressWarnings(
      "WaitNotInLoop") // run() is the loop: whatever woke us, it looks at the queue again
  private void await(long delayNanos, boolean tidy) {
    lock.lock();
    try {
      idle = true;
      if (stopping) {
        return;
      }
      if (tidy && queue.isEmpty() && retired.isEmpty()) {
        // Garbage that came before `idle` was set is seen here; later garbage sees `idle`.
        wake.await();
      } else {
        long left = wake.awaitNanos(delayNanos);
        assert left <= delayNanos;
      }
    } catch (InterruptedException e) {
      // Nobody but close() stops this thread.
      LOG.debug("garbage collector interrupted", e);
    } finally {
      idle = false;
      lock.unlock();
    }
  }

  private void signal() {
    lock.lock();
    try {
      wake.signal();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      stopping = true;
      wake.signal();
    } finally {
      lock.unlock();
    }
    Threads.joinUninterruptibly(thread);
  }
}
