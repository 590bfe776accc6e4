package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// One stripe of the work that comes from outside: a bounded FIFO ring, many producers, one consumer at a time.
///
/// Any worker may be the consumer, by a try-lock. Nothing waits behind a busy owner, and a worker that finds the lock taken goes elsewhere
/// instead of waiting.
///
/// ```
///  field     written by                     access
///  tail      producers, the closer          CAS, getAndBitwiseOr; claims an index; the sign is `closed`
///  tasks     the claimer, then the consumer release/acquire; index i is at i & mask
///  jobs      likewise                       plain, written before the task; null for a task without a job, so that a
///                                           producer of those touches nothing but `tasks`; what is the scheduler's own
///                                           has a mark
///  head      the consumer, under `lock`     release; producers acquire it before they claim
///  limit     producers                      release/acquire; head as last seen, so that a producer
///                                           rarely touches the consumer's cache line
///  seenTail  consumers                      opaque; an older tail, so that a consumer that finds much rarely
///                                           touches the producers' cache line
///  lock      consumers                      CAS 0 -> 1, release to 0
/// ```
///
/// A producer claims index t only if t - head < capacity. So the slot has been read and cleared by the consumer,
/// before the release of head that the producer acquired; an empty slot alone would not prove that it is free,
/// because a producer that claimed it earlier may be about to store. The job is stored plainly, then
/// the task with release, which publishes both. The consumer stops at the first slot that is claimed and not yet stored.
///
/// *The claim is the publication that the idle protocol needs* (see [Sleepers]): it is an RMW, it comes before the
/// producer's look at the idle word, and a ring with a claim is not [#isEmpty]. So a worker that looks again before
/// it sleeps sees the claim, or the producer sees the worker asleep. A worker that sees a claim before its task finds
/// nothing yet, looks again before each sleep, and sees the claim until the task is there.
///
/// Tasks without a job ([TaskScheduler#execute]) are refused once the ring is closed. The claim's CAS and the closing change one word, so
/// each accepted task is here before the closer looks. The consumer counts them before it releases head: a thread that finds the ring empty
/// finds them counted.
final class Inbox {
  private static final VarHandle TAIL;
  private static final VarHandle LIMIT;
  private static final VarHandle SEEN_TAIL;
  private static final VarHandle HEAD;
  private static final VarHandle LOCK;
  private static final VarHandle TASK = MethodHandles.arrayElementVarHandle(Object[].class);

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(Inbox.class, "tail", long.class);
      LIMIT = lookup.findVarHandle(Inbox.class, "limit", long.class);
      SEEN_TAIL = lookup.findVarHandle(Inbox.class, "seenTail", long.class);
      HEAD = lookup.findVarHandle(Inbox.class, "head", long.class);
      LOCK = lookup.findVarHandle(Inbox.class, "lock", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // One line per role: producers, consumers, and the constants.
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7;

  private volatile long tail;

  @SuppressWarnings("unused") // by LIMIT
  private volatile long limit;

  @SuppressWarnings("unused") // for its order
  private volatile long filled;

  @SuppressWarnings("unused")
  private long q0, q1, q2, q3, q4, q5, q6, q7;

  private volatile long head;

  @SuppressWarnings("unused") // by SEEN_TAIL
  private long seenTail;

  @SuppressWarnings("unused") // by LOCK
  private volatile int lock;

  @SuppressWarnings("unused")
  private long r0, r1, r2, r3, r4, r5, r6, r7;

  private static final long INDEX = Long.MAX_VALUE;
  private static final Object INTERNAL = new Object();

  private final @Nullable Object[] tasks;
  private final @Nullable Object[] jobs;
  private final int mask;
  private final long sampleMask; // -1: none
  private final int markShift;
  private final Job jobless;
  private final EventCount room;

  /// @param capacity a power of two
  /// @param jobless the job that stands for none
  /// @param room told each time that another eighth of the ring became free: submitters that found the ring full
  ///     wait for it, and one wake-up for many free places is cheaper than one for each batch. Several such marks are
  ///     passed before a full ring is empty, so none waits for ever
  /// @param sampling one task in so many is timed, 0 for none
  Inbox(int capacity, Job jobless, EventCount room, int sampling) {
    sampleMask = sampling == 0 ? -1 : (Integer.highestOneBit(2 * sampling - 1) - 1L);
    tasks = new @Nullable Object[capacity];
    jobs = new @Nullable Object[capacity];
    mask = capacity - 1;
    markShift = Math.max(0, Integer.numberOfTrailingZeros(capacity) - 3);
    this.jobless = jobless;
    this.room = room;
  }

  /// Adds at the end; false if the ring is full. `job` is null for what is the scheduler's own.
  boolean offer(Task task, @Nullable Job job) {
    return offer(task, job == null ? INTERNAL : job, Long.MIN_VALUE);
  }

  /// Adds a task without a job at the end; false if the ring is full or closed.
  boolean offerJobless(Task task) {
    return offer(task, null, 0);
  }

  @SuppressWarnings("ReferenceEquality") // of the mark
  private boolean offer(Task given, @Nullable Object job, long least) {
    Task task = given;
    for (; ; ) {
      long word = tail;
      if (word < least) {
        return false;
      }
      long t = word & INDEX;
      if (t - (long) LIMIT.getAcquire(this) > mask) {
        long h = (long) HEAD.getAcquire(this);
        if (t - h > mask) {
          return false;
        }
        LIMIT.setRelease(this, h);
      }
      // Before the claim, after which nothing may fail. Index 0 is none: a mask of ones asks for
      // it.
      if ((t & sampleMask) == 0 && t != 0 && job != INTERNAL && !(task instanceof SampledTask)) {
        task = new SampledTask(given);
      }
      if (TAIL.compareAndSet(this, word, word + 1)) {
        int at = (int) t & mask;
        if (job != null) {
          jobs[at] = job;
        }
        try {
          Platform.point(Point.INBOX_CLAIMED);
          TASK.setRelease(tasks, at, task);
        } catch (Throwable noStack) {
          // Everybody's tasks behind a claim wait until it is filled. A volatile store is no call,
          // and keeps the two others in order.
          filled = t;
          tasks[at] = task;
        }
        return true;
      }
    }
  }

  /// Refuses tasks without a job from now on.
  void close() {
    TAIL.getAndBitwiseOr(this, ~INDEX);
  }

  boolean closed() {
    return tail < 0;
  }

  /// How many a consumer should take, at most `max`: its fair share, the rest is for the `consumers - 1` others. 0 if there
  /// is nothing. The tail that it reads may be an older one, when that is enough for all of them.
  int share(int max, int consumers) {
    long h = head;
    long left = (long) SEEN_TAIL.getOpaque(this) - h;
    if (left < (long) max * consumers) {
      long t = tail & INDEX;
      SEEN_TAIL.setOpaque(this, t);
      left = t - h;
    }
    return left <= 0 ? 0 : (int) Math.min(max, left / consumers + 1);
  }

  /// Takes up to `max` from the front into `batch` as pairs (task, job); 0 if there is none or another
  /// worker is taking. Tasks without a job are accepted now, in `counters`.
  @SuppressWarnings("ReferenceEquality") // of the mark
  int drain(@Nullable Object[] batch, int max, Counters counters) {
    if (!LOCK.compareAndSet(this, 0, 1)) {
      return 0;
    }
    Platform.point(Point.INBOX_TAKING); // others find the try-lock taken and go elsewhere
    long h = head;
    int most = Math.min(max, batch.length / 2);
    int n = 0;
    int withoutJob = 0;
    while (n < most) {
      int at = (int) (h + n) & mask;
      Object task = TASK.getAcquire(tasks, at);
      if (task == null) {
        break;
      }
      batch[2 * n] = task;
      Object job = jobs[at];
      if (job == null) {
        batch[2 * n + 1] = jobless;
        withoutJob++;
      } else {
        batch[2 * n + 1] = job == INTERNAL ? null : job;
        jobs[at] = null;
      }
      tasks[at] = null; // plain: handed over by the release of head
      n++;
    }
    if (withoutJob > 0) {
      counters.accepted(withoutJob);
      counters.add(Counters.JOBLESS_TAKEN, withoutJob);
    }
    HEAD.setRelease(this, h + n);
    LOCK.setRelease(this, 0);
    if (h >>> markShift != (h + n) >>> markShift) {
      room.notifyWaiters();
    }
    return n;
  }

  /// Whether nothing is claimed. Two volatile loads; "not empty" may be early (the producer is about
  /// to store and will then look for sleepers itself), "empty" is never wrong.
  boolean isEmpty() {
    return head == (tail & INDEX);
  }

  int size() {
    return (int) Math.max(0, (tail & INDEX) - head);
  }
}
