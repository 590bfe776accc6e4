package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.Platform.Mutation;
import dev.kakehashi.scheduler.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A worker's own queue: the owner pushes and pops at the newest end, anyone takes up to half from the old end
/// with one CAS. Fixed capacity; refuses when full.
///
/// Both ends live in one word, so "the owner took b" and "a thief took [t, t + n)" are transitions of the same
/// atomic. (With two words, as in Chase and Lev 2005, a thief may take one item only: the owner pops without a
/// CAS as long as it sees more than one item, and a thief that moves the old end by n jumps over
/// the point where they would have met.)
///
/// ```
///  field     written by     access
///  word      everyone       tail << 32 | head, both modulo 2^32; changed only by RMW
///  slots     see below      pairs (task, job); index i is at 2 * (i & mask)
/// ```
///
/// 1. *Claims never overlap.* Every change of (head, tail) is a successful RMW on one location, and each CAS
///    names the whole old state; so claims are totally ordered and two of them never cover the same index.
/// 2. *A claimed index holds what was pushed there.* The push writes the slot (3), then publishes it by RMW
///    (4). The claiming CAS reads a later value of `word`, so (3) happens before the read (7), which comes after
///    the claim. Nothing is read before its claim, so a stale thief whose CAS succeeds on an equal word owns
///    the current items of these indices: no ABA, also when the same task object is queued again.
/// 3. *No slot is overwritten under a slow thief.* A thief reads (7), then clears with release (8). The owner
///    looks at the slot with acquire (2) before it writes, and sends the task elsewhere if it is not clear.
///    A late (8) cannot erase a newer task, because (2) let none in before it.
/// 4. The owner's CAS fails only because a thief's succeeded; a thief never waits, nor does the owner for it.
/// 5. Every taken slot is cleared at once: the deque keeps no reference to a finished task. What the owner pops leaves
///    its job behind, which mostly is the job of the next push, too: storing a reference into an old array costs
///    G1 a full fence, comparing costs nothing. [#forgetJobs] drops what is left when the deque has become
///    empty. A thief clears both.
///
/// (4) is also the full fence between the publication and the pusher's look at the idle word, see [Sleepers].
final class PackedDeque {
  private static final long ONE_TAIL = 1L << 32;
  private static final VarHandle WORD;
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);

  static {
    try {
      WORD = MethodHandles.lookup().findVarHandle(PackedDeque.class, "word", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Thieves write `word`; what only the owner uses must not share its cache line.
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7;

  private volatile long word;

  @SuppressWarnings("unused")
  private long q0, q1, q2, q3, q4, q5, q6, q7;

  private final @Nullable Object[] slots;
  private final int mask;

  private final @Nullable Job kept;

  private int takenIndex;

  // Owner: indices [keptFrom, keptTo) may have left a job behind.
  private int keptFrom;
  private int keptTo;

  /// @param capacity a power of two
  /// @param firstIndex where both ends start; tests start shortly before the wrap
  PackedDeque(int capacity, int firstIndex) {
    this(capacity, firstIndex, null);
  }

  /// @param kept a job that lives as long as the deque: slots need not forget it
  PackedDeque(int capacity, int firstIndex, @Nullable Job kept) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity must be a power of two, not " + capacity);
    }
    slots = new @Nullable Object[2 * capacity];
    mask = capacity - 1;
    word = ((long) firstIndex << 32) | (firstIndex & 0xFFFF_FFFFL);
    keptFrom = firstIndex;
    keptTo = firstIndex;
    this.kept = kept;
  }

  /// Adds at the newest end. Owner only; false if there is no free slot.
  boolean push(Task task, @Nullable Job job) {
    long w =
        (long)
            WORD.getOpaque(
                this); // (1) tail is exact; head may be old, which underestimates the room
    int tail = tail(w);
    if (!free(w, tail)) {
      return false;
    }
    int at = (tail & mask) << 1;
    try {
      put(tail, task, job); // (3)
      Platform.point(Point.DEQUE_STORED);
      WORD.getAndAdd(this, ONE_TAIL); // (4) the carry of tail falls off the top, head is untouched
    } catch (Throwable t) { // no stack for a call: not queued, and nothing is kept
      slots[at] = null;
      slots[at + 1] = null;
      throw t;
    }
    return true;
  }

  /// Adds tasks from `from` on, the last one newest, with one publication. Owner only; returns how many found room.
  int pushAll(List<? extends Task> tasks, int from, @Nullable Job job) {
    long w = (long) WORD.getOpaque(this);
    int tail = tail(w);
    int pushed = 0;
    try {
      while (from + pushed < tasks.size() && free(w, tail + pushed)) {
        put(tail + pushed, tasks.get(from + pushed), job);
        pushed++;
      }
      if (pushed > 0) {
        WORD.getAndAdd(this, pushed * ONE_TAIL);
      }
    } catch (Throwable t) { // as in push
      for (int i = tail; i != tail + pushed; i++) {
        int at = (i & mask) << 1;
        slots[at] = null;
        slots[at + 1] = null;
      }
      throw t;
    }
    return pushed;
  }

  /// Moves the pairs `from` to `to` of `batch` here, the last one newest, or with `backwards` the last one oldest. Owner only;
  /// returns how many found room: the first ones in that order.
  int pushBatch(@Nullable Object[] batch, int from, int to, boolean backwards) {
    long w = (long) WORD.getOpaque(this);
    int tail = tail(w);
    int first = 2 * (backwards ? to - 1 : from);
    int step = backwards ? -2 : 2;
    int pushed = 0;
    boolean published = false;
    try {
      for (int at = first; pushed < to - from && free(w, tail + pushed); at += step) {
        put(tail + pushed, batch[at], batch[at + 1]);
        pushed++;
      }
      if (pushed > 0) {
        WORD.getAndAdd(this, pushed * ONE_TAIL);
      }
      published = true;
    } finally { // without a call: the tasks are in one of both places
      for (int i = 0; i < pushed; i++) {
        if (published) {
          batch[first + i * step] = null;
          batch[first + i * step + 1] = null;
        } else {
          int at = ((tail + i) & mask) << 1;
          slots[at] = null;
          slots[at + 1] = null;
        }
      }
    }
    return pushed;
  }

  /// Adds at the old end. Owner only; false if there is no free slot.
  ///
  /// The slot before head belongs to the owner like every slot outside [head, tail): a thief that claimed it
  /// before has cleared it (2). If head moves before the CAS, the slot is taken back: nobody could see it.
  boolean pushOldest(Task task, @Nullable Job job) {
    for (; ; ) {
      long w = (long) WORD.getOpaque(this);
      int index = head(w) - 1;
      if (!free(w, index)) {
        return false;
      }
      long next = pack(tail(w), index);
      int at = (index & mask) << 1;
      boolean added = false;
      try {
        put(index, task, job);
        added = WORD.compareAndSet(this, w, next);
      } finally {
        if (!added) {
          slots[at] = null;
          slots[at + 1] = null;
        }
      }
      if (added) {
        return true;
      }
    }
  }

  /// Takes the newest task, or null; its job is [#takenJob()]. Owner only.
  @Nullable Task popNewest() {
    for (; ; ) {
      long w = (long) WORD.getOpaque(this);
      if (tail(w) == head(w)) {
        return null;
      }
      if (WORD.compareAndSet(this, w, w - ONE_TAIL)) { // (5)
        return take(tail(w) - 1);
      }
    }
  }

  /// Takes the oldest task, or null; its job is [#takenJob()]. Owner only.
  @Nullable Task popOldest() {
    for (; ; ) {
      long w = (long) WORD.getOpaque(this);
      if (tail(w) == head(w)) {
        return null;
      }
      if (WORD.compareAndSet(this, w, pack(tail(w), head(w) + 1))) {
        return take(head(w));
      }
    }
  }

  /// Takes up to `max` of the oldest into `batch` as pairs (task, job). Owner only, from any depth of a task's stack: once
  /// claimed, tasks are moved without a call. Returns how many; 0 also if a thief came first.
  int takeOldest(@Nullable Object[] batch, int max) {
    long w = (long) WORD.getOpaque(this);
    int head = head(w);
    int n = Math.min(Math.min(tail(w) - head, max), batch.length / 2);
    long next = pack(tail(w), head + n);
    if (n <= 0 || !WORD.compareAndSet(this, w, next)) {
      return 0;
    }
    for (int i = 0; i < n; i++) {
      int at = ((head + i) & mask) << 1;
      batch[2 * i] = slots[at];
      batch[2 * i + 1] = slots[at + 1];
      slots[at] = null; // plain: the owner's own next push is the only one that looks
      slots[at + 1] = null;
    }
    return n;
  }

  /// Takes half of the tasks, rounded up, from the old end into `batch` as pairs (task, job), at most `max`.
  /// Anyone. Returns how many; 0 if there are fewer than `least` or if another claim came first.
  int stealHalf(@Nullable Object[] batch, int max, int least) {
    if (size() < least) {
      return 0;
    }
    // This RMW brings the cache line here, so that the claim a few nanoseconds later still finds
    // what it names. After
    // a mere load the claim would have to fetch the line once more, and an owner that pushes and
    // pops
    // without a pause changes the word meanwhile, each time.
    long w = (long) WORD.getAndAdd(this, 0L);
    int size = tail(w) - head(w);
    if (size < least) {
      return 0;
    }
    int n = Math.min(Math.min((size + 1) / 2, max), batch.length / 2);
    boolean early = Platform.mutated(Mutation.STEAL_READS_BEFORE_CLAIM);
    if (early) {
      copy(w, batch, n);
      Platform.point(Point.DEQUE_CLAIMED);
    }
    if (n == 0 || !WORD.compareAndSet(this, w, pack(tail(w), head(w) + n))) { // (6)
      return 0;
    }
    Platform.point(Point.DEQUE_CLAIMED);
    for (int i = 0; i < n; i++) {
      int at = at(head(w) + i);
      if (!early) {
        batch[2 * i] = slots[at]; // (7) after the claim
        batch[2 * i + 1] = slots[at + 1];
      }
      slots[at + 1] = null;
      SLOT.setRelease(slots, at, null); // (8) hands the slot back to the owner
    }
    if (Checks.ON) {
      for (int i = 0; i < n; i++) {
        Checks.that(batch[2 * i] != null, "a claimed slot holds its task");
      }
    }
    return n;
  }

  private void copy(long w, @Nullable Object[] batch, int n) {
    for (int i = 0; i < n; i++) {
      int at = at(head(w) + i);
      batch[2 * i] = slots[at];
      batch[2 * i + 1] = slots[at + 1];
    }
  }

  /// Job of the last popped task, until the next push. Owner only.
  @Nullable Job takenJob() {
    return (Job) slots[at(takenIndex) + 1];
  }

  /// Drops the jobs that popped tasks have left behind. Owner only, cheap when nothing is left.
  ///
  /// Call it when a pop has found the deque empty. A slot whose task is still there is a slow thief's, who clears both.
  void forgetJobs() {
    for (int index = keptFrom; index != keptTo; index++) {
      int at = at(index);
      Object job = slots[at + 1];
      if (job != null && job != kept && SLOT.getAcquire(slots, at) == null) {
        slots[at + 1] = null;
      }
    }
    keptFrom = nextIndex();
    keptTo = keptFrom;
  }

  /// Index of the last popped task, modulo 2^32. Owner only.
  int takenIndex() {
    return takenIndex;
  }

  /// Index that the next push will use, modulo 2^32. Owner only.
  int nextIndex() {
    return tail((long) WORD.getOpaque(this));
  }

  /// Number of tasks: one load, exact at the instant of the load.
  int size() {
    long w = word;
    return tail(w) - head(w);
  }

  /// Whether all slots outside the two ends are clear. For checks, while nobody else uses the deque.
  boolean keepsNothingElse() {
    long w = word;
    for (int index = tail(w); index != head(w) + mask + 1; index++) {
      Object job = slots[at(index) + 1];
      if (slots[at(index)] != null || (job != null && job != kept)) {
        return false;
      }
    }
    return true;
  }

  // A slot outside [head, tail) is free when nobody reads it any more (2).
  private boolean free(long w, int index) {
    int distance = index - head(w);
    boolean inside = distance >= 0 ? distance <= mask : tail(w) - index <= mask + 1;
    return inside
        && (SLOT.getAcquire(slots, at(index)) == null
            || Platform.mutated(Mutation.PUSH_IGNORES_SLOW_THIEF));
  }

  @SuppressWarnings("ReferenceEquality") // the same job
  private void put(int index, @Nullable Object task, @Nullable Object job) {
    int at = at(index);
    if (slots[at + 1] != job) { // see 5
      slots[at + 1] = job;
      if (index - keptFrom < 0) {
        keptFrom = index;
      }
      if (index - keptTo >= 0) {
        keptTo = index + 1;
      }
      if (keptTo - keptFrom > mask + 1) {
        keptFrom = keptTo - mask - 1; // every slot
      }
    }
    slots[at] = task;
  }

  // Plain accesses: after the claim the index is ours alone until our next push.
  private @Nullable Task take(int index) {
    int at = at(index);
    Task task = (Task) slots[at];
    takenIndex = index;
    if (!Platform.mutated(Mutation.SLOT_NOT_CLEARED)) {
      slots[at] = null;
    }
    if (Checks.ON) {
      Checks.that(task != null, "a claimed slot holds its task");
    }
    return task;
  }

  private int at(int index) {
    return (index & mask) << 1;
  }

  private static int head(long w) {
    return (int) w;
  }

  private static int tail(long w) {
    return (int) (w >>> 32);
  }

  private static long pack(int tail, int head) {
    return ((long) tail << 32) | (head & 0xFFFF_FFFFL);
  }
}
