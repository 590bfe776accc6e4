package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.log.file.RetryPause;
import dev.kakehashi.protocol.Threads;
import dev.kakehashi.scheduler.platform.BackgroundWork;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that brings the base image after the log, so that the log stays short, and makes the next segments. Writers of the log never
/// wait for it, unless they are [#MAX_QUEUED_BYTES] ahead.
///
/// Records of the log are applied in pieces of some size, not at each commit: until then they are only kept in memory. When
/// `checkpointBytes` of the log have been applied the image is flushed, and the segments before are given back. So recovery applies
/// `checkpointBytes` and a few pieces at most.
///
/// Queues have an image of their own, their files, which are forced before the image is flushed. Until then the image names the position
/// before the first change of queues that may not be there: recovery applies the records after it again to both, which does no harm.
///
/// `queue`, `queuedBytes`, `queuedEnd`, `waiting`, `failure`, `holds` and `stopping` are guarded by `lock`. A failed step is tried again,
/// with the same records.
final class Checkpointer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);

  /// Bytes applied in one step.
  private static final long STEP_BYTES = 8 << 20;

  private static final long MAX_QUEUED_BYTES = 64 << 20;

  private static final LogRecord SAME_POSITION = new LogRecord(0);

  private final RocksImage image;
  private final LogFormat format;
  private final LogSegments segments;
  private final SideFiles sideFiles;
  private final @Nullable QueueSystem queues;
  private final @Nullable LogArchiver archiver;
  private final LogFeeds feeds;
  private final Object forceLock = new Object();
  private final long applyBytes;
  private final long checkpointBytes;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private List<Step> queue = new ArrayList<>();
  private long queuedBytes;
  private long queuedEnd;

  /// Callbacks for the moment when [#hasRoom] may have another answer.
  private List<Runnable> waiting = new ArrayList<>();

  private boolean segmentDue;
  private boolean stopping;
  private int holds;

  /// Null: it follows. Written under the lock; without it a hint.
  private volatile @Nullable EngineException failure;

  /// The last checkpoint, for who looks.
  private volatile Checkpoint last;

  /// @param position up to where the image survives
  /// @param count since the start
  /// @param millis when, since 1970; 0: before the start
  private record Checkpoint(long position, long count, long millis) {}

  /// How far the image is behind the log.
  ///
  /// @param bytes of the log since the checkpoint
  /// @param segments that have them
  /// @param unappliedBytes of records that the image does not have
  /// @param checkpoints since the start
  /// @param lastMillis when, since 1970; 0: before the start
  record Progress(
      long bytes, long segments, long unappliedBytes, long checkpoints, long lastMillis) {}

  // Owned by the thread.
  private long applied;

  /// Whether all was taken, and nothing more comes. Not where it woke up for a segment only, and was stopped while it made that.
  private boolean ended;

  private long checkpointed;
  private long lastPrepared;

  /// Bytes of side files that have been applied since then.
  private long besideApplied;

  /// Whether queues have got changes since they were forced.
  private boolean queuesChanged;

  private record Step(List<LogRecord> records, long bytes, long end) {}

  /// @param checkpointed what survives in the image
  /// @param applied what is in the image
  /// @param queues null: there are none
  /// @param queuesChanged whether they have got changes since `checkpointed`
  /// @param archiver null: there is no archive
  Checkpointer(
      RocksImage image,
      LogFormat format,
      LogSegments segments,
      SideFiles sideFiles,
      SegmentedLog.Options options,
      long checkpointed,
      long applied,
      @Nullable QueueSystem queues,
      boolean queuesChanged,
      @Nullable LogArchiver archiver,
      LogFeeds feeds) {
    this.archiver = archiver;
    this.feeds = feeds;
    this.image = image;
    this.format = format;
    this.segments = segments;
    this.sideFiles = sideFiles;
    this.applyBytes = options.applyBytes();
    this.checkpointBytes = options.checkpointBytes();
    this.checkpointed = checkpointed;
    this.last = new Checkpoint(checkpointed, 0, 0);
    this.applied = applied;
    this.queuedEnd = applied;
    this.queues = queues;
    this.queuesChanged = queuesChanged;
    this.lastPrepared = format.segment(applied);
    this.thread = new Thread(this::run, "kakehashi-checkpoint");
    thread.setDaemon(true);
    thread.start();
  }

  /// Takes a group that is in the log.
  void add(List<LogRecord> records, long bytes, long end) {
    lock.lock();
    try {
      long segment = format.segment(end);
      // Half of a segment is time enough to make another.
      boolean pastHalf = format.offset(end) > format.segmentBytes() / 2;
      boolean due = pastHalf && (segment != format.segment(queuedEnd) || !wasPastHalf());
      queue.add(new Step(List.copyOf(records), bytes, end));
      boolean enough = queuedBytes < applyBytes && queuedBytes + bytes >= applyBytes;
      queuedBytes += bytes;
      queuedEnd = end;
      segmentDue |= due;
      if (due || enough) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean wasPastHalf() {
    return format.offset(queuedEnd) > format.segmentBytes() / 2;
  }

  /// Refuses more records where the image is far behind and cannot follow, before they are visible: those that are kept in memory stay
  /// bounded.
  ///
  /// @param bytes of records that are still to come
  /// @throws EngineException why it cannot follow
  void refuseIfStuck(long bytes) {
    EngineException reason = failure;
    if (reason == null) {
      return;
    }
    lock.lock();
    try {
      if (queuedBytes + bytes > MAX_QUEUED_BYTES) {
        throw reason;
      }
    } finally {
      lock.unlock();
    }
  }

  /// Waits until the image is not too far behind. If it cannot follow nobody waits: what is written now is visible already, and more is
  /// refused.
  void awaitRoom() {
    lock.lock();
    try {
      while (queuedBytes > MAX_QUEUED_BYTES && failure == null && !stopping) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Whether the image is not too far behind, or cannot follow, or need not any more.
  ///
  /// @param whenReady called once when it is worth to ask again, if the answer is false
  boolean hasRoom(Runnable whenReady) {
    lock.lock();
    try {
      boolean room = queuedBytes <= MAX_QUEUED_BYTES || failure != null || stopping;
      if (!room) {
        waiting.add(whenReady);
      }
      return room;
    } finally {
      lock.unlock();
    }
  }

  /// Changes under the lock what others wait for, and tells them; those of [#hasRoom] without it.
  private void change(Runnable change) {
    List<Runnable> ready;
    lock.lock();
    try {
      change.run();
      changed.signalAll();
      ready = waiting;
      waiting = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    ready.forEach(Runnable::run);
  }

  private void run() {
    BackgroundWork.begin();
    attempt(() -> segments.prepare(lastPrepared));
    while (true) {
      List<Step> steps = next();
      attempt(this::prepareSegment);
      int from = 0;
      while (from < steps.size()) {
        int to = from;
        long bytes = 0;
        do {
          bytes += steps.get(to).bytes();
          to++;
        } while (to < steps.size() && bytes + steps.get(to).bytes() <= STEP_BYTES);
        List<Step> piece = steps.subList(from, to);
        if (!insist(() -> apply(piece))) {
          return;
        }
        done(bytes);
        from = to;
      }
      if (ended) {
        // A clean end leaves nothing to be recovered.
        attempt(this::checkpoint);
        return;
      }
      if (applied - checkpointed + besideApplied >= checkpointBytes) {
        attempt(this::checkpoint);
      }
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  /// Waits for work and takes it; empty if only a segment is due, or for the last time.
  private List<Step> next() {
    lock.lock();
    try {
      while (queuedBytes < applyBytes && !segmentDue && !stopping) {
        changed.awaitUninterruptibly();
      }
      segmentDue = false;
      if (queuedBytes < applyBytes && !stopping) {
        return List.of();
      }
      List<Step> taken = queue;
      queue = new ArrayList<>();
      ended = stopping && taken.isEmpty();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private void done(long bytes) {
    change(() -> {
      queuedBytes -= bytes;
      failure = null;
    });
  }

  /// From now on no segment is given back.
  void hold() {
    lock.lock();
    try {
      holds++;
    } finally {
      lock.unlock();
    }
  }

  void release() {
    lock.lock();
    try {
      holds--;
    } finally {
      lock.unlock();
    }
  }

  /// Everything before is in the log, and survives.
  long queuedEnd() {
    lock.lock();
    try {
      return queuedEnd;
    } finally {
      lock.unlock();
    }
  }

  /// Any thread.
  Progress progress() {
    Checkpoint now = last;
    lock.lock();
    try {
      return new Progress(
          Math.max(0, queuedEnd - now.position()),
          format.segment(queuedEnd) - format.segment(now.position()) + 1,
          queuedBytes,
          now.count(),
          now.millis());
    } finally {
      lock.unlock();
    }
  }

  private void prepareSegment() throws IOException {
    long end = queuedEnd();
    long next = format.segment(end) + 1;
    if (next > lastPrepared && format.offset(end) > format.segmentBytes() / 2) {
      segments.prepare(next);
      lastPrepared = next;
    }
  }

  private void apply(List<Step> steps) {
    List<LogRecord> records = new ArrayList<>();
    steps.forEach(step -> records.addAll(step.records()));
    long end = steps.getLast().end();
    for (LogRecord record : records) {
      queuesChanged |= record.hasQueueChanges();
    }
    image.apply(
        records, queuesChanged ? SAME_POSITION : SegmentedLog.position(format, end), sideFiles);
    for (LogRecord record : records) {
      SideFile file = record.sideFile();
      besideApplied += file == null ? 0 : file.bytes();
    }
    applied = end;
  }

  /// Changes queues while they are not forced, for who has no other lock for it.
  void changeQueues(Runnable change) {
    synchronized (forceLock) {
      change.run();
    }
  }

  /// See [QueueSystem#force]; also of other threads, for a backup.
  void forceQueues() {
    QueueSystem forced = Objects.requireNonNull(queues);
    synchronized (forceLock) {
      forced.force();
    }
  }

  private void checkpoint() throws IOException {
    if (queuesChanged) {
      // All that was applied was reported to them as durable, see SegmentedLog.write.
      forceQueues();
      image.apply(List.of(), SegmentedLog.position(format, applied), sideFiles);
      queuesChanged = false;
    }
    // From now on a start does not know which side files there were.
    sideFiles.force();
    image.flush();
    checkpointed = applied;
    last = new Checkpoint(applied, last.count() + 1, System.currentTimeMillis());
    besideApplied = 0;
    lock.lock();
    try {
      // Under the lock: who holds segments gets all that it finds.
      if (holds == 0) {
        LogArchiver archive = archiver;
        long needed = Math.min(checkpointed, feeds.least());
        if (archive != null) {
          needed = Math.min(needed, archive.firstKept() * format.segmentBytes());
        }
        segments.retireBelow(format.segment(needed));
        sideFiles.retireUpTo(checkpointed);
        sideFiles.kept().release(needed);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Does work that can also be done later.
  private void attempt(Work work) {
    try {
      work.run();
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      LOG.warn("could not shorten the store's log; trying again later", e);
    }
  }

  /// Does work until it succeeds; false if the store is closing meanwhile.
  private boolean insist(Work work) {
    while (true) {
      try {
        work.run();
        return true;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        LOG.error("could not bring the base image after the store's log; trying again", e);
        if (!pauseBeforeRetry(SegmentedLog.failure("could not write to the store", e))) {
          return false;
        }
      }
    }
  }

  private boolean pauseBeforeRetry(EngineException reason) {
    change(() -> failure = reason);
    return RetryPause.await(lock, changed, () -> stopping);
  }

  /// Applies all that was added, flushes the image, and ends the thread. Work that fails is left to recovery.
  @Override
  public void close() {
    change(() -> stopping = true);
    Threads.joinUninterruptibly(thread);
  }
}
