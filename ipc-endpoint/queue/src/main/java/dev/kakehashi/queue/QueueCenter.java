package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.protocol.ErrorCode;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The parts that all queues share: the lock, time, files, holders of leases, and work that waits until the lock is free.
///
/// One lock guards all queues. It is held for microseconds: files are written, records are committed and consumers are called without it,
/// by actions that run when the outermost [#exit] has let it go.
final class QueueCenter {
  private static final Logger LOG = LoggerFactory.getLogger(QueueCenter.class);

  /// The wall clock may jump: it is looked at as often while anything waits for it.
  private static final long WALL_LOOK_NANOS = 30_000_000_000L;

  /// Longest wait of a call for a disk that takes no writes.
  private static final long LONGEST_LOOK_NANOS = 1_000_000_000L;

  private static final long WATCH_NANOS = 1_000_000_000L;

  final SegmentFiles files;
  volatile long incarnation;

  /// Greatest one that replayed tasks have.
  long seenIncarnation;

  final Map<Long, QueueCore> queues = new ConcurrentHashMap<>();
  final Deadlines mono = new Deadlines();
  final Deadlines wall = new Deadlines();
  final RecordWriter writer = new RecordWriter(this);

  /// Throws for a URL that tasks may not be pushed to; set before the start.
  Consumer<String> pushTargets = _ -> {};

  final LeaseHolders holders = new LeaseHolders();
  long startNanos;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong taskCount = new AtomicLong();
  private final Set<GroupCore> matches = new LinkedHashSet<>();
  private final Set<DelayedTasks> loads = new LinkedHashSet<>();

  /// Placed changes that are not applied, in their order.
  final Queue<TransactionChanges> placed = new ConcurrentLinkedQueue<>();

  /// Calls without a wait that look at what is being written first.
  private final List<Waiter> looking = new ArrayList<>(1);

  /// Record up to which a flush was asked for because of tasks in it.
  private long hurried = -1;

  private final List<TaskSegment> sealed = new ArrayList<>();
  private final List<TaskSegment> changed = new ArrayList<>();
  private final List<TaskSegment> obsolete = new ArrayList<>();
  private final SecureRandom random = new SecureRandom();
  private final int[] nonces = new int[256];
  private int nonceAt = nonces.length;
  private ArrayDeque<Runnable> later = new ArrayDeque<>();
  private volatile @Nullable QueueHost host;
  private QueueHost.@Nullable Alarm alarm;
  private long alarmAt;
  private boolean watching;
  private boolean watchNext;
  private boolean closed;

  private final Deadline wallLook =
      new Deadline() {
        @Override
        void reached() {}
      };

  private final Deadline watchdog =
      new Deadline() {
        @Override
        void reached() {
          watchAll();
        }
      };

  QueueCenter(SegmentFiles files, long incarnation) {
    this.files = files;
    this.incarnation = incarnation;
  }

  // ---- the critical section ----

  void enter() {
    lock.lock();
  }

  /// Where what was left for later runs.
  enum Then {
    /// On this thread.
    HERE,
    /// On another thread: this one has locks, or no time.
    ELSEWHERE
  }

  /// Ends the critical section; the outermost one runs what was left for later.
  void exit() {
    exit(Then.HERE);
  }

  void exit(Then then) {
    ArrayDeque<Runnable> todo = null;
    Runnable write = null;
    QueueHost to = host;
    try {
      if (lock.getHoldCount() == 1) {
        settle();
        if (!later.isEmpty()) {
          todo = later;
          later = new ArrayDeque<>();
        }
        write = to == null ? null : writer.next();
      }
    } finally {
      lock.unlock();
    }
    if (todo != null) {
      if (then == Then.ELSEWHERE && to != null) {
        ArrayDeque<Runnable> all = todo;
        to.execute(() -> run(all));
      } else {
        run(todo);
      }
    }
    if (write != null && to != null) {
      if (then == Then.HERE) {
        write.run();
      } else {
        to.execute(write);
      }
    }
  }

  private static void run(ArrayDeque<Runnable> actions) {
    for (Runnable each : actions) {
      try {
        each.run();
      } catch (RuntimeException e) {
        LOG.error("An action of the queues failed", e);
      }
    }
  }

  /// Something to be done without the lock.
  void later(Runnable action) {
    later.add(action);
  }

  /// Hands out what can be handed out, writes what is to be written, sets the alarm.
  private void settle() {
    while (!matches.isEmpty() || !loads.isEmpty()) {
      if (!loads.isEmpty()) {
        DelayedTasks next = loads.iterator().next();
        loads.remove(next);
        next.refill();
        continue;
      }
      GroupCore group = matches.iterator().next();
      matches.remove(group);
      group.consumers.match();
    }
    QueueHost to = host;
    if (to == null) {
      return;
    }
    if (!sealed.isEmpty()) {
      List<TaskSegment> full = List.copyOf(sealed);
      sealed.clear();
      later(() -> to.execute(() -> SegmentWriter.write(this, full)));
    }
    Deadline first = mono.first();
    if (first != null && !closed && (alarm == null || first.due - alarmAt < 0)) {
      if (alarm != null) {
        alarm.cancel();
      }
      alarmAt = first.due;
      alarm = to.after(Math.max(0, first.due - to.nanoTime()), this::ring);
    }
  }

  private void ring() {
    enter();
    try {
      alarm = null;
      if (closed) {
        return;
      }
      long nanos = nanoTime();
      for (Deadline due = mono.poll(nanos); due != null; due = mono.poll(nanos)) {
        due.reached();
      }
      lookAtWall();
    } finally {
      exit();
    }
  }

  void lookAtWall() {
    long now = wallMillis();
    for (Deadline due = wall.poll(now); due != null; due = wall.poll(now)) {
      due.reached();
    }
    Deadline first = wall.first();
    if (first != null) {
      armWallLook(first.due - now);
    }
  }

  private void armWallLook(long millis) {
    long wait =
        millis > WALL_LOOK_NANOS / 1_000_000 ? WALL_LOOK_NANOS : Math.max(1, millis) * 1_000_000;
    long at = nanoTime() + wait;
    if (wallLook.heapIndex < 0 || at - wallLook.due < 0) {
      mono.set(wallLook, at);
    }
  }

  // ---- life and time ----

  void start(QueueHost to) {
    startNanos = to.nanoTime();
    host = to;
  }

  boolean isStarted() {
    return host != null;
  }

  QueueHost host() {
    return java.util.Objects.requireNonNull(host, "not started");
  }

  /// No alarm rings any more.
  void close() {
    closed = true;
    if (alarm != null) {
      alarm.cancel();
      alarm = null;
    }
  }

  long nanoTime() {
    QueueHost now = host;
    return now == null ? System.nanoTime() : now.nanoTime();
  }

  long wallMillis() {
    QueueHost now = host;
    return now == null ? System.currentTimeMillis() : now.wallMillis();
  }

  void arm(Deadline node, long waitNanos) {
    mono.set(node, nanoTime() + waitNanos);
  }

  void armWall(Deadline node, long millis) {
    wall.set(node, millis);
    if (host != null && node.heapIndex == 0) {
      armWallLook(millis - wallMillis());
    }
  }

  boolean isOver(TaskEntry entry) {
    return entry.due - nanoTime() <= 0;
  }

  long newTaskId() {
    return (incarnation << 40) | taskCount.incrementAndGet();
  }

  int nonce() {
    if (nonceAt == nonces.length) {
      byte[] bytes = new byte[nonces.length * Integer.BYTES];
      random.nextBytes(bytes);
      java.nio.ByteBuffer.wrap(bytes).asIntBuffer().get(nonces);
      nonceAt = 0;
    }
    return nonces[nonceAt++];
  }

  void toMatch(GroupCore group) {
    if (host != null && group.consumers.waiting() > 0) {
      matches.add(group);
    }
  }

  /// Delayed tasks whose time has come have room now.
  void toLoad(DelayedTasks tasks) {
    loads.add(tasks);
  }

  // ---- changes of the log ----

  /// Number of the last change that has its place; guarded by the lock that orders commits.
  long lastPlaced;

  /// Number of the last change that is applied.
  long lastApplied;

  /// Queues whose state has changed since it was written.
  Set<QueueCore> dirty = new LinkedHashSet<>();

  /// Queues that are gone, and whose state was written.
  List<QueueCore> gone = new ArrayList<>();

  /// Why changes of the log could not be applied. Then memory is not the state of the log any more: nothing is handed out or forced, and
  /// the next start replays.
  volatile @Nullable EngineException failure;

  /// @throws EngineException why an earlier change could not be applied
  void requireSound() {
    EngineException why = failure;
    if (why != null) {
      throw new EngineException(why.code(), "the queues need a restart: " + why.getMessage(), why);
    }
  }

  /// Applies what is durable; a failure stays.
  void applyDurable(TransactionChanges changes) {
    if (failure != null) {
      return;
    }
    try {
      apply(changes.ops(), changes.sequence);
      changes.applied();
    } catch (RuntimeException e) {
      failure =
          e instanceof EngineException known
              ? known
              : new EngineException(
                  ErrorCode.INTERNAL_ERROR, "a change of queues could not be applied: " + e, e);
      LOG.error("A durable change of queues could not be applied", e);
    }
  }

  void apply(List<QueueOp> ops, long sequence) {
    if (sequence <= lastApplied) {
      return;
    }
    lastApplied = sequence;
    for (QueueOp each : ops) {
      apply(each);
    }
  }

  private void apply(QueueOp op) {
    if (op instanceof QueueOp.CreateQueue) {
      QueueCore queue = queues.computeIfAbsent(op.queueId(), id -> new QueueCore(this, id));
      queue.created();
      dirty.add(queue);
      return;
    }
    QueueCore queue = queues.get(op.queueId());
    if (queue == null) {
      return;
    }
    dirty.add(queue);
    switch (op) {
      case QueueOp.Enqueue it -> {
        if (host == null) {
          long made = TaskRecord.taskId(it.record) >>> 40;
          seenIncarnation = Math.max(seenIncarnation, made);
        }
        queue.append(it.record, it.position);
      }
      case QueueOp.CreateGroup it -> queue.createGroup(it.groupId(), it.first());
      case QueueOp.DropGroup it -> queue.dropGroup(it.groupId());
      case QueueOp.Purge it -> queue.purge(it);
      case QueueOp.Fired it -> queue.fired(it.schedule(), it.millis());
      case QueueOp.DropQueue _ -> {
        queue.drop();
        queues.remove(queue.queueId);
        dirty.remove(queue);
        gone.add(queue);
      }
      case QueueOp.Gone it -> {
        for (GroupCore each : List.copyOf(queue.groups)) {
          if (it.groupId() < 0 || it.groupId() == each.groupId) {
            each.gone(it.position(), it.isDeadLetter());
          }
        }
      }
      case QueueOp.Claimed it -> {
        GroupCore group = queue.group(it.groupId());
        if (group != null) {
          group.claimed(it.position(), it.attempts());
        }
      }
      case QueueOp.Done it -> {
        GroupCore group = queue.group(it.groupId());
        if (group != null) {
          group.done(it.position());
        }
      }
      case QueueOp.Failed it -> {
        GroupCore group = queue.group(it.groupId());
        if (group != null) {
          group.failed(it);
        }
      }
      case QueueOp.Released it -> {
        GroupCore group = queue.group(it.groupId());
        if (group != null) {
          group.released(it.position(), it.attempts());
        }
      }
      case QueueOp.Dead it -> {
        GroupCore group = queue.group(it.groupId());
        if (group != null) {
          group.died(it.position(), it.error());
        }
      }
      case QueueOp.CreateQueue _ -> throw new IllegalStateException("seen above");
    }
  }

  /// A queue is made; under the lock that orders commits.
  void place(long queueId, @Nullable QueueCore queue) {
    QueueCore made = queue == null ? new QueueCore(this, queueId) : queue;
    made.define(definitions.get(queueId));
    queues.putIfAbsent(queueId, made);
  }

  /// Queues of the committed catalogue.
  volatile Map<Long, QueueDefinition> definitions = Map.of();

  /// The entry that a token names, if it is the present lease; else null.
  @Nullable TaskEntry leased(LeaseToken token) {
    QueueCore queue = queues.get(token.queueId());
    GroupCore group = queue == null ? null : queue.group(token.groupId());
    TaskEntry entry = group == null ? null : group.entries.get(token.position());
    return entry != null && entry.isLeasedBy(token) ? entry : null;
  }

  // ---- claims ----

  /// Tasks that were taken for a call: told when the record is durable.
  void claim(GroupConsumers.Claim claim) {
    List<QueueOp> ops = new ArrayList<>(claim.entries().size());
    for (TaskEntry each : claim.entries()) {
      ops.add(
          new QueueOp.Claimed(
              each.group.queue.queueId, each.group.groupId, each.position, each.attempts));
      holders.leaseBegan(each);
    }
    writer.add(ops, failure -> Deliveries.claimed(this, claim, failure));
  }

  /// Tries to make a task dead that was handed out too often.
  void bury(TaskEntry entry) {
    Deliveries.bury(this, entry);
  }

  /// The last record of a transaction that may make tasks of a queue ready, and is not durable; -1: there is none.
  private long lastUndurable(QueueCore queue) {
    long last = -1;
    for (TransactionChanges each : placed) {
      if (!each.lost && each.readies(queue)) {
        last = each.record;
      }
    }
    return last;
  }

  /// A consumer waits: tasks whose commit waits for others to be flushed with are flushed soon. A record without changes, for which
  /// somebody waits, does that.
  void hurry(QueueCore queue) {
    long last = lastUndurable(queue);
    if (last > hurried) {
      hurried = last;
      writer.add(List.of(), _ -> {});
    }
  }

  /// Lets a call without a wait end with nothing only when what was committed before it is durable: who has committed a task and asks for
  /// it gets it.
  ///
  /// @return false: there is no such task
  boolean endWhenDurable(Waiter waiter) {
    long last = lastUndurable(waiter.group.queue);
    if (last < 0) {
      return false;
    }
    hurry(waiter.group.queue);
    waiter.until = last;
    looking.add(waiter);
    arm(waiter, LONGEST_LOOK_NANOS);
    return true;
  }

  /// Changes committed up to a record are applied.
  void endWaits(long record) {
    for (int i = looking.size() - 1; i >= 0; i--) {
      Waiter each = looking.get(i);
      if (each.ended || each.until <= record) {
        looking.remove(i);
        each.group.consumers.match();
        each.group.consumers.endIfWaiting(each);
      }
    }
  }

  // ---- files ----

  void sealed(TaskSegment segment) {
    sealed.add(segment);
  }

  /// Full segments that nobody writes yet.
  List<TaskSegment> takeSealed() {
    List<TaskSegment> result = List.copyOf(sealed);
    sealed.clear();
    return result;
  }

  void changed(TaskSegment segment) {
    if (!segment.unsynced) {
      segment.unsynced = true;
      changed.add(segment);
    }
  }

  void obsolete(TaskSegment segment) {
    files.forget(segment);
    segment.freed = true;
    if (segment.onDisk || segment.beingWritten) {
      obsolete.add(segment);
    }
  }

  List<TaskSegment> obsoleteNow() {
    return obsolete;
  }

  /// Segments whose files are not needed any more, since the last call.
  List<TaskSegment> takeObsolete() {
    List<TaskSegment> result = List.copyOf(obsolete);
    obsolete.clear();
    return result;
  }

  /// Segments whose files have changed since the last call.
  List<TaskSegment> takeChanged() {
    List<TaskSegment> result = List.copyOf(changed);
    for (TaskSegment each : result) {
      each.unsynced = false;
    }
    changed.clear();
    return result;
  }

  // ---- the watchdog ----

  /// Somebody waits: looks are taken once a second as long as that is so.
  void watch() {
    if (!watching) {
      watching = true;
      arm(watchdog, WATCH_NANOS);
    }
  }

  void watchSoon() {
    watchNext = true;
  }

  private void watchAll() {
    watching = false;
    watchNext = false;
    boolean anybody = false;
    long nanos = nanoTime();
    for (QueueCore queue : queues.values()) {
      for (GroupCore group : queue.groups) {
        anybody |= group.consumers.look(nanos);
      }
    }
    if (anybody) {
      watching = true;
      arm(watchdog, watchNext ? GroupConsumers.LATE_NANOS + 1_000_000 : WATCH_NANOS);
    }
  }
}
