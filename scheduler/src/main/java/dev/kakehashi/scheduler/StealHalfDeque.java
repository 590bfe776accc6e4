package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Fences;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A worker's own queue: the owner pushes and pops at the newest end, anyone takes up to half from the old end
/// with one claim. Fixed capacity; refuses when full. The owner's push and pop have no atomic operation and no fence
/// as long as nobody steals.
///
/// ```
///  field     written by     access
///  tail      owner          new end, modulo 2^32; release
///  old       everyone       head (the old end, modulo 2^32) and a thief's claim; changed by CAS only
///  slots     see below      pairs (task, job); index i is at 2 * (i & mask)
/// ```
///
/// A thief takes in two steps. It *claims*: a CAS that writes next to the head how many it wants. After a [Fences#heavy] it looks
/// at the new end again and *commits* the part of the claim that is still there: a CAS that moves the head. The owner's pop first moves the
/// new end, then, after a [Fences#light], looks whether the index is claimed; if it is, it *cancels* the claim by a CAS, and the thief's
/// commit fails. (A thief that takes several by moving the head at once, as it can take one in the deque of Chase and Lev, jumps over the
/// point where owner and thief would have met.)
///
/// 1. *Nothing is taken twice.* Take an index that the owner popped without having seen a claim on it, and a claim on it. The
///    owner's look came before the claim, else it would have seen it; so, by the fences, the thief's second look sees the new end
///    without that index, or with what was pushed there later. An index that is claimed and
///    was popped after the owner saw the claim is canceled: commit and cancellation are CASes on one word that both name the
///    claim, so one of them fails. Indices popped at the old end move the head by CAS, which a commit would have to name.
/// 2. *A claim is one thief's.* While it stands, or is canceled and its thief has not seen that, nobody else can claim; only
///    its thief takes it away. So a commit that succeeds is about the claim it made: no ABA, also when the same
///    task object is queued again. Others do not wait for a thief that is slow, they go elsewhere; neither does the owner.
/// 3. *A taken index holds what was pushed there.* The push writes the slot (3), then the new end with release (4). The thief's
///    second look acquires it, so (3) happens before the read (7), which comes after the commit (6).
/// 4. *No slot is overwritten under a slow thief.* A thief reads (7), then clears with release (8). The owner
///    looks at the slot with acquire (2) before it writes, and sends the task elsewhere if it is not clear.
///    A late (8) cannot erase a newer task, because (2) let none in before it.
/// 5. Every taken slot is cleared at once: the deque keeps no reference to a finished task. A pop of the owner leaves the job in the slot,
///    which mostly is the job of the next push, too. Storing a reference into an old array costs G1 a full fence, comparing costs nothing.
///    [#forgetJobs] drops what is left when the deque has become empty. A thief clears both.
///
/// *Shared for a while.* The first steal marks the deque as shared, with its claim. From then on the owner's pop passes a full
/// fence between its two steps, as the mark tells it to, and thieves do without the heavy one. After
/// some pops without a steal the owner takes the mark back, by a CAS that fails while a claim stands.
///
/// A push ends with [Fences#light], between the publication and the pusher's look at the idle word, see [Sleepers].
final class StealHalfDeque {
  private static final long HEAD = 0xFFFF_FFFFL;
  private static final int CLAIM_SHIFT = 32;
  private static final int MAX_CLAIM = 0xFFFF;
  private static final long CLAIM = (long) MAX_CLAIM << CLAIM_SHIFT; // how many, 0 for none
  private static final long CANCELED = 1L << 48;
  private static final long SHARED = 1L << 49;
  private static final int POPS_WHILE_SHARED = 256;
  private static final VarHandle TAIL;
  private static final VarHandle OLD;
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(StealHalfDeque.class, "tail", int.class);
      OLD = lookup.findVarHandle(StealHalfDeque.class, "old", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Thieves write `old`, the owner `tail` and what only it uses: a cache line for each.
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7;

  private volatile long old;

  @SuppressWarnings("unused")
  private long q0, q1, q2, q3, q4, q5, q6, q7;

  private volatile int tail;
  private int takenIndex;
  private @Nullable Job takenJob;

  // Owner: indices [keptFrom, keptTo) may have left a job behind.
  private int keptFrom;
  private int keptTo;

  // Owner, while the deque is shared: the head as last seen, and pops since it has moved.
  private int sharedHead;
  private int sharedPops;

  @SuppressWarnings("unused") // for its order
  private volatile int published;

  @SuppressWarnings("unused")
  private long r0, r1, r2, r3, r4, r5, r6, r7;

  private final @Nullable Object[] slots;
  private final int mask;

  private final @Nullable Job permanent;

  /// @param capacity a power of two
  /// @param firstIndex where both ends start; tests start shortly before the wrap
  StealHalfDeque(int capacity, int firstIndex) {
    this(capacity, firstIndex, null);
  }

  /// @param permanent a job that lives as long as the deque: slots need not forget it
  StealHalfDeque(int capacity, int firstIndex, @Nullable Job permanent) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity must be a power of two, not " + capacity);
    }
    slots = new @Nullable Object[2 * capacity];
    mask = capacity - 1;
    old = firstIndex & HEAD;
    tail = firstIndex;
    keptFrom = firstIndex;
    keptTo = firstIndex;
    this.permanent = permanent;
  }

  /// Adds at the newest end. Owner only; false if there is no free slot.
  boolean push(Task task, @Nullable Job job) {
    int index = (int) TAIL.getOpaque(this);
    @Nullable Object[] s = slots;
    if (!free(s, index)) {
      return false;
    }
    try {
      put(s, index, task, job); // (3)
      Platform.point(Point.DEQUE_STORED);
      TAIL.setRelease(this, index + 1); // (4)
      Fences.light();
    } catch (Throwable t) { // no stack for a call
      if (tail == index) { // not queued, and nothing is kept
        s[(index << 1) & (s.length - 1)] = null;
        s[((index << 1) | 1) & (s.length - 1)] = null;
        throw t;
      }
      published = index; // queued: the fence without a call
    }
    return true;
  }

  /// Adds tasks, the last one newest, with one publication. Owner only; returns how many found room.
  int pushAll(Task[] tasks, @Nullable Job job) {
    int first = (int) TAIL.getOpaque(this);
    int pushed = 0;
    try {
      while (pushed < tasks.length && free(slots, first + pushed)) {
        put(slots, first + pushed, tasks[pushed], job);
        pushed++;
      }
      TAIL.setRelease(this, first + pushed);
      Fences.light();
    } catch (Throwable t) { // as in push
      if (tail == first) {
        for (int i = first; i != first + pushed; i++) {
          int at = (i & mask) << 1;
          slots[at] = null;
          slots[at + 1] = null;
        }
        throw t;
      }
      published = first;
    }
    return pushed;
  }

  /// Moves the pairs `from` to `to` of `batch` here, the last one newest, or with `backwards` the last one oldest. Owner only;
  /// returns how many found room: the first ones in that order.
  int pushBatch(@Nullable Object[] batch, int from, int to, boolean backwards) {
    int index = (int) TAIL.getOpaque(this);
    int first = 2 * (backwards ? to - 1 : from);
    int step = backwards ? -2 : 2;
    int pushed = 0;
    try {
      for (int at = first; pushed < to - from && free(slots, index + pushed); at += step) {
        put(slots, index + pushed, batch[at], batch[at + 1]);
        pushed++;
      }
      TAIL.setRelease(this, index + pushed);
      Fences.light();
    } finally { // without a call: the tasks are in one of both places
      boolean queued = tail != index;
      for (int i = 0; i < pushed; i++) {
        if (queued) {
          batch[first + i * step] = null;
          batch[first + i * step + 1] = null;
        } else {
          int at = ((index + i) & mask) << 1;
          slots[at] = null;
          slots[at + 1] = null;
        }
      }
    }
    return pushed;
  }

  /// Adds at the old end. Owner only; false if there is no free slot.
  ///
  /// The slot before head belongs to the owner like every slot outside [head, tail): a thief that took it
  /// before has cleared it (2). If head moves before the CAS, the slot is taken back: nobody could see it.
  boolean pushOldest(Task task, @Nullable Job job) {
    for (; ; ) {
      long o = (long) OLD.getOpaque(this);
      int index = head(o) - 1;
      if (!free(slots, index)) {
        return false;
      }
      long next = moved(o, index);
      int at = (index & mask) << 1;
      boolean added = false;
      try {
        put(slots, index, task, job);
        if (index - keptFrom < 0) {
          keptFrom = index;
        }
        added = OLD.compareAndSet(this, o, next);
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
    int index = (int) TAIL.getOpaque(this) - 1;
    if (index - head((long) OLD.getOpaque(this)) < 0) {
      return null;
    }
    TAIL.setOpaque(this, index);
    Fences.light();
    Platform.point(Point.DEQUE_MOVED);
    long o = (long) OLD.getOpaque(this);
    if (((o & ~HEAD) != 0 || index - head(o) < 0) && !wins(index)) {
      return null;
    }
    return take(index);
  }

  /// Whether the owner, which has moved the new end to that index, gets it: a thief is or was near.
  private boolean wins(int index) {
    VarHandle.fullFence(); // in place of the thief's, if that has found the deque shared
    for (; ; ) {
      long o = old;
      if (index - head(o) < 0) {
        TAIL.setOpaque(this, index + 1); // the deque is empty
        return false;
      }
      if (index - head(o) >= claimed(o)) {
        if ((o & SHARED) != 0) {
          takeMarkBack(o);
        }
        return true;
      }
      if (OLD.compareAndSet(this, o, moved(o, head(o)))) { // cancels the claim
        return true;
      }
    }
  }

  private void takeMarkBack(long o) {
    if (sharedHead != head(o)) {
      sharedHead = head(o);
      sharedPops = 0;
    } else if (++sharedPops >= POPS_WHILE_SHARED && (o & (CLAIM | CANCELED)) == 0) {
      sharedPops = 0;
      OLD.compareAndSet(this, o, o & HEAD);
    }
  }

  /// Takes the oldest task, or null; its job is [#takenJob()]. Owner only.
  @Nullable Task popOldest() {
    int end = (int) TAIL.getOpaque(this);
    for (; ; ) {
      long o = (long) OLD.getOpaque(this);
      if (end == head(o)) {
        return null;
      }
      if (OLD.compareAndSet(this, o, moved(o, head(o) + 1))) {
        return take(head(o));
      }
    }
  }

  /// Takes up to `max` of the oldest into `batch` as pairs (task, job). Owner only, from any depth of a task's stack: once
  /// taken, tasks are moved without a call. Returns how many; 0 also if a thief came first.
  int takeOldest(@Nullable Object[] batch, int max) {
    int end = (int) TAIL.getOpaque(this);
    long o = (long) OLD.getOpaque(this);
    int head = head(o);
    int n = Math.min(Math.min(end - head, max), batch.length / 2);
    long next = moved(o, head + n);
    if (n <= 0 || !OLD.compareAndSet(this, o, next)) {
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
  /// Anyone. Returns how many; 0 if there are fewer than `least`, if another thief is at it or if the owner has canceled the
  /// claim.
  int stealHalf(@Nullable Object[] batch, int max, int least) {
    long o = old;
    if ((o & (CLAIM | CANCELED)) != 0) {
      return 0;
    }
    int head = head(o);
    int size = tail - head;
    if (size < Math.max(1, least)) {
      return 0;
    }
    int n = Math.min(Math.min((size + 1) / 2, Math.min(max, MAX_CLAIM)), batch.length / 2);
    boolean early = Platform.mutated(Mutation.STEAL_READS_BEFORE_CLAIM);
    if (early) {
      copy(head, batch, n);
      Platform.point(Point.DEQUE_CLAIMED);
    }
    long claim = o | SHARED | ((long) n << CLAIM_SHIFT);
    if (n == 0 || !OLD.compareAndSet(this, o, claim)) {
      return 0;
    }
    Platform.point(Point.DEQUE_CLAIMED);
    if ((o & SHARED) == 0) {
      Fences.heavy();
    }
    n = Math.min(n, tail - head);
    if (n < Math.max(1, least)
        || !OLD.compareAndSet(this, claim, SHARED | ((head + n) & HEAD))) { // (6)
      OLD.getAndBitwiseAnd(this, SHARED | HEAD);
      return 0;
    }
    Platform.point(Point.DEQUE_CLAIMED);
    for (int i = 0; i < n; i++) {
      int at = at(head + i);
      if (!early) {
        batch[2 * i] = slots[at]; // (7) after the commit
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

  private void copy(int head, @Nullable Object[] batch, int n) {
    for (int i = 0; i < n; i++) {
      int at = at(head + i);
      batch[2 * i] = slots[at];
      batch[2 * i + 1] = slots[at + 1];
    }
  }

  /// Job of the last popped task. Owner only.
  @Nullable Job takenJob() {
    return takenJob;
  }

  /// Drops the jobs that popped tasks have left behind. Owner only, cheap when nothing is left.
  ///
  /// Call it when a pop has found the deque empty. A slot whose task is still there belongs to a slow thief, which clears both.
  void forgetJobs() {
    int most = mask + 1;
    int kept = keptTo - keptFrom;
    int from = Integer.compareUnsigned(kept, most) > 0 ? keptTo - most : keptFrom;
    for (int index = from; index != keptTo; index++) {
      int at = at(index);
      Object job = slots[at + 1];
      if (job != null && job != permanent && SLOT.getAcquire(slots, at) == null) {
        slots[at + 1] = null;
      }
    }
    keptFrom = nextIndex();
    keptTo = keptFrom;
    if (takenJob != permanent) {
      takenJob = null;
    }
  }

  /// Index of the last popped task, modulo 2^32. Owner only.
  int takenIndex() {
    return takenIndex;
  }

  /// Index that the next push will use, modulo 2^32. Owner only.
  int nextIndex() {
    return (int) TAIL.getOpaque(this);
  }

  /// Number of tasks. For the owner exact, or too large by what was stolen meanwhile; for others a guess, which is
  /// above zero if there was a task all the time and it is not the owner's next one.
  int size() {
    int head =
        head(old); // first: what is pushed and stolen between the loads does not hide what there is
    return Math.max(0, tail - head);
  }

  /// Whether all slots outside the two ends are clear. For checks, while nobody else uses the deque.
  boolean keepsNothingElse() {
    if (takenJob != null && takenJob != permanent) {
      return false;
    }
    int head = head(old);
    for (int index = tail; index != head + mask + 1; index++) {
      Object job = slots[at(index) + 1];
      if (slots[at(index)] != null || (job != null && job != permanent)) {
        return false;
      }
    }
    return true;
  }

  // A slot between the ends holds a task; one outside them is free when nobody reads it any more
  // (2). So an empty one has room, wherever the old end is by now.
  private boolean free(@Nullable Object[] s, int index) {
    if (Platform.mutated(Mutation.PUSH_IGNORES_SLOW_THIEF)) {
      int distance = index - head(old);
      return distance >= 0 ? distance <= mask : tail - index <= mask + 1;
    }
    return SLOT.getAcquire(s, (index << 1) & (s.length - 1)) == null;
  }

  // The places of a pair are computed from the array's length: the compiler then knows that they
  // are inside.
  @SuppressWarnings("ReferenceEquality") // the same job
  private void put(@Nullable Object[] s, int index, @Nullable Object task, @Nullable Object job) {
    int jobAt = ((index << 1) | 1) & (s.length - 1);
    if (s[jobAt] != job) { // see 5
      s[jobAt] = job;
      if (index - keptTo >= 0) {
        keptTo = index + 1;
      }
    }
    s[(index << 1) & (s.length - 1)] = task;
  }

  // Plain accesses: after the claim the index is ours alone until our next push.
  @SuppressWarnings("ReferenceEquality") // the same job, mostly: then there is nothing to store
  private @Nullable Task take(int index) {
    @Nullable Object[] s = slots;
    int at = (index << 1) & (s.length - 1);
    Task task = (Task) s[at];
    Object job = s[((index << 1) | 1) & (s.length - 1)];
    takenIndex = index;
    if (job != takenJob) {
      takenJob = (Job) job;
    }
    if (!Platform.mutated(Mutation.SLOT_NOT_CLEARED)) {
      s[at] = null;
    }
    if (Checks.ON) {
      Checks.that(task != null, "a claimed slot holds its task");
    }
    return task;
  }

  private int at(int index) {
    return (index & mask) << 1;
  }

  private static int head(long o) {
    return (int) o;
  }

  private static int claimed(long o) {
    return (int) (o >>> CLAIM_SHIFT) & MAX_CLAIM;
  }

  /// The owner's next state of `old`: another head, and no claim.
  private static long moved(long o, int head) {
    long canceled = (o & (CLAIM | CANCELED)) != 0 ? CANCELED : 0;
    return (o & SHARED) | canceled | (head & HEAD);
  }
}
