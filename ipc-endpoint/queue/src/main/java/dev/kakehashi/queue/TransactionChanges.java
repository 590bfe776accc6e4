package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.TaskEntry.Phase;
import dev.kakehashi.queue.UniqueTaskKeys.QueueSweep;
import dev.kakehashi.queue.UniqueTaskKeys.TaskEnd;
import dev.kakehashi.queue.UniqueTaskKeys.UniqueTask;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;

/// Changes that one transaction makes to queues. Before the commit they are guarded by the lock of the queue system.
final class TransactionChanges implements QueueChanges {
  private static final int MAX_ERROR = 8192;
  private static final int MOST_PROMISED = 16;

  /// Ten years.
  private static final long MAX_RETRY = 315_360_000_000L;

  private final QueueCenter center;

  /// Whether it is the queues' own, for whose flush somebody waits.
  private final boolean own;

  private final List<Step> steps = new ArrayList<>();

  /// Queues that it makes, until they have their place.
  private final Map<Long, QueueCore> created = new HashMap<>(2);

  private final Set<LeaseToken> ended = new HashSet<>(4);
  private final QueueUses uses = new QueueUses(this);

  /// Changes as they are written; made by [#prepareCommit].
  private List<QueueOp> ops = List.of();

  /// Offsets of new tasks within the bytes, in the order of `ops`.
  private int[] offsets = new int[0];

  private int bytes;
  private boolean prepared;

  /// Numbers of the record and of the change; set when it has its place.
  volatile long record = -1;

  long sequence;

  /// Whether its place stays empty, because its record was not written.
  volatile boolean lost;

  /// One call; what a roll back takes back.
  private static final class Step {
    /// Null: the token says what is meant, at the commit.
    @Nullable QueueOp op;

    @Nullable LeaseToken token;
    Ending ending = Ending.DONE;
    String error = "";
    long retryMillis;
    @Nullable UniqueTask unique;
    List<TaskEntry> held = List.of();

    /// The entry that its token or `held` means has this, if its task has a unique key.
    @Nullable TaskEnd end;

    @Nullable TaskEntry leased;
    @Nullable QueueSweep sweep;
    @Nullable QueueCore swept;

    /// Whether a failure was that of the last attempt when it was said. That counts, because others have been told numbers by it.
    boolean last;
  }

  private enum Ending {
    DONE,
    FAILED,
    KILLED,
    RELEASED
  }

  TransactionChanges(QueueCenter center) {
    this.center = center;
    this.own = false;
  }

  /// Changes of the queues' own, ready to be written.
  TransactionChanges(QueueCenter center, List<QueueOp> ops) {
    this(center, ops, true);
  }

  private TransactionChanges(QueueCenter center, List<QueueOp> ops, boolean own) {
    this.center = center;
    this.ops = ops;
    this.own = own;
    layOut();
    prepared = true;
  }

  /// Changes of a transaction that an earlier run prepared.
  static TransactionChanges recovered(QueueCenter center, List<QueueOp> ops) {
    TransactionChanges result = new TransactionChanges(center, ops, false);
    for (QueueOp each : ops) {
      result.holdRecovered(each);
    }
    return result;
  }

  private void holdRecovered(QueueOp op) {
    Step step = new Step();
    step.op = op;
    switch (op) {
      case QueueOp.Enqueue it -> {
        QueueCore queue = center.queues.get(it.queueId);
        TaskRecord task = new TaskRecord(ByteBuffer.wrap(it.record), 0);
        String key = task.uniqueKey();
        if (queue != null) {
          uses.use(queue);
        }
        if (queue != null && key != null && task.holdsUniqueKey()) {
          step.unique = queue.uniqueKeys.claim(key, task.taskId, task.uniqueUntilMillis(), this);
        }
      }
      case QueueOp.Done it -> {
        hold(step, it.queueId(), it.groupId(), it.position());
        ends(step, step.held);
      }
      case QueueOp.Failed it -> hold(step, it.queueId(), it.groupId(), it.position());
      case QueueOp.Released it -> hold(step, it.queueId(), it.groupId(), it.position());
      case QueueOp.Dead it -> {
        hold(step, it.queueId(), it.groupId(), it.position());
        ends(step, step.held);
      }
      case QueueOp.Gone it -> {
        hold(step, it.queueId(), it.groupId(), it.position());
        ends(step, step.held);
      }
      case QueueOp.Purge it -> {
        if (!it.deadOnly()) {
          sweep(step, it.queueId(), -1).written = it;
        }
      }
      case QueueOp.DropGroup it -> sweep(step, it.queueId(), it.groupId());
      default -> {}
    }
    steps.add(step);
  }

  /// Ended tasks may have unique keys: others are told nothing of them until the transaction has ended.
  private void ends(Step step, List<TaskEntry> entries) {
    for (TaskEntry each : entries) {
      each.group.know(each);
      if (each.unique) {
        TaskEnd end = step.end == null ? new TaskEnd(this, null) : step.end;
        step.end = end;
        each.addEnd(end);
      }
    }
  }

  private QueueSweep sweep(Step step, long queueId, long groupId) {
    QueueSweep sweep = new QueueSweep(this, groupId);
    QueueCore queue = center.queues.get(queueId);
    step.sweep = sweep;
    if (queue != null) {
      step.swept = queue;
      queue.uniqueKeys.add(sweep);
    }
    return sweep;
  }

  /// Whether it ends a task of its own by a later PURGE.
  boolean sweepsLater(UniqueTask own) {
    if (own.untilMillis != 0) {
      return false;
    }
    for (int at = steps.size() - 1; at >= 0; at--) {
      Step each = steps.get(at);
      if (each.unique == own) {
        return false;
      }
      if (each.op instanceof QueueOp.Purge purge
          && !purge.deadOnly()
          && purge.queueId() == own.queue.queueId) {
        return true;
      }
    }
    return false;
  }

  private void hold(Step step, long queueId, long groupId, long position) {
    QueueCore queue = center.queues.get(queueId);
    if (queue == null) {
      return;
    }
    List<TaskEntry> held = new ArrayList<>(1);
    for (GroupCore group : queue.groups) {
      if (groupId < 0 || groupId == group.groupId) {
        TaskEntry entry = group.entry(position);
        if (entry != null) {
          group.hold(entry, this);
          held.add(entry);
        }
      }
    }
    step.held = held;
  }

  // ---- tasks ----

  @Override
  public long enqueue(long queueId, NewTask task) {
    TaskLimits.check(task);
    center.enter();
    try {
      QueueCore queue = queue(queueId);
      uses.use(queue);
      Step step = new Step();
      String key = task.uniqueKey();
      long id = 0;
      long now = center.wallMillis();
      if (key != null) {
        UniqueTask other = queue.uniqueKeys.holder(key, this);
        if (other != null) {
          return other.taskId;
        }
        id = center.newTaskId();
        long until = task.uniqueForMillis() == 0 ? 0 : now + task.uniqueForMillis();
        step.unique = queue.uniqueKeys.claim(key, id, until, this);
      } else {
        id = center.newTaskId();
      }
      step.op =
          new QueueOp.Enqueue(
              queueId,
              TaskRecord.encode(
                  id,
                  now,
                  task.payload(),
                  task.key(),
                  task.fair(),
                  task.priority(),
                  task.runAtMillis(),
                  key,
                  task.uniqueForMillis(),
                  null));
      steps.add(step);
      return id;
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  private QueueCore queue(long queueId) {
    center.requireSound();
    QueueCore queue = created.get(queueId);
    if (queue == null) {
      queue = center.queues.get(queueId);
    }
    if (queue == null || queue.dropped) {
      throw new EngineException(ErrorCode.UNDEFINED_OBJECT, "the queue is gone");
    }
    return queue;
  }

  @Override
  public void complete(LeaseToken token) {
    end(token, Ending.DONE, "", 0);
  }

  @Override
  public void fail(LeaseToken token, String error, long retryMillis) {
    end(token, Ending.FAILED, kept(error), retryMillis);
  }

  private static String kept(String error) {
    return error.length() > MAX_ERROR ? error.substring(0, MAX_ERROR) : error;
  }

  @Override
  public void failForGood(LeaseToken token, String error) {
    end(token, Ending.KILLED, kept(error), -1);
  }

  @Override
  public void requirePushTarget(String url) {
    center.pushTargets.accept(url);
  }

  @Override
  public void release(LeaseToken token) {
    end(token, Ending.RELEASED, "", 0);
  }

  private void end(LeaseToken token, Ending ending, String error, long retryMillis) {
    center.enter();
    try {
      TaskEntry entry = leased(token);
      if (!ended.add(token)) {
        throw lost();
      }
      Step step = new Step();
      if (ending == Ending.KILLED) {
        step.last = true;
      } else if (ending == Ending.FAILED) {
        step.last =
            Backoff.exhausted(
                entry.group.options(), entry.attempts, entry.enqueuedMillis, center.wallMillis());
      }
      if (entry.unique && (ending == Ending.DONE || step.last)) {
        step.leased = entry;
        step.end = new TaskEnd(this, token);
        entry.addEnd(step.end);
      }
      step.token = token;
      step.ending = ending;
      step.error = error;
      step.retryMillis = retryMillis;
      steps.add(step);
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  private TaskEntry leased(LeaseToken token) {
    TaskEntry entry = center.leased(token);
    if (entry == null || entry.heldBy != null) {
      throw lost();
    }
    return entry;
  }

  static EngineException lost() {
    return new EngineException(
        ErrorCode.LEASE_LOST, "the lease has ended, or its task is completed already");
  }

  @Override
  public boolean cancel(long queueId, long taskId) {
    center.enter();
    try {
      QueueCore queue = queue(queueId);
      long position = TaskSearch.find(queue, taskId);
      if (position < 0) {
        return false;
      }
      Step step = new Step();
      List<TaskEntry> held = new ArrayList<>(1);
      for (GroupCore group : queue.groups) {
        TaskEntry entry = group.entry(position);
        if (entry == null) {
          continue;
        }
        if (entry.heldBy != null || entry.phase == Phase.LEASED || entry.phase == Phase.HELD) {
          held.forEach(each -> each.group.unhold(each));
          return false;
        }
        group.hold(entry, this);
        held.add(entry);
      }
      if (held.isEmpty()) {
        return false;
      }
      step.held = held;
      ends(step, held);
      step.op = new QueueOp.Gone(queueId, -1, position, false);
      steps.add(step);
      return true;
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  // ---- queues ----

  private void step(QueueOp op) {
    center.enter();
    try {
      Step step = new Step();
      step.op = op;
      steps.add(step);
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  @Override
  public void createQueue(long queueId) {
    step(new QueueOp.CreateQueue(queueId));
    created.put(queueId, new QueueCore(center, queueId));
  }

  @Override
  public void dropQueue(long queueId) {
    center.enter();
    try {
      QueueCore queue = center.queues.get(queueId);
      if (queue != null) {
        uses.drop(queue);
      }
      step(new QueueOp.DropQueue(queueId));
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  @Override
  public void createGroup(long queueId, long groupId, boolean first) {
    step(new QueueOp.CreateGroup(queueId, groupId, first));
  }

  @Override
  public void dropGroup(long queueId, long groupId) {
    center.enter();
    try {
      Step step = new Step();
      step.op = new QueueOp.DropGroup(queueId, groupId);
      sweep(step, queueId, groupId);
      steps.add(step);
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  @Override
  public void purge(long queueId, boolean deadOnly) {
    center.enter();
    try {
      Step step = new Step();
      step.op = new QueueOp.Purge(queueId, deadOnly, new long[0], new long[0]);
      if (!deadOnly) {
        sweep(step, queueId, -1);
      }
      steps.add(step);
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  @Override
  public long move(
      long queueId, long toQueueId, boolean dead, long max, @Nullable String error, double rate) {
    center.enter();
    try {
      QueueCore from = queue(queueId);
      uses.use(from);
      QueueCore to = queue(toQueueId);
      uses.use(to);
      if (queueId == toQueueId && !dead) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "tasks cannot be moved to their own queue");
      }
      Map<String, Long> coming = new HashMap<>(4);
      List<TaskEntry> found =
          TaskSearch.movable(
              from, dead, max, error, record -> to.uniqueKeys.takes(record, this, coming));
      long now = center.wallMillis();
      long moved = 0;
      for (TaskEntry each : found) {
        long runAt = rate > 0 ? now + (long) (moved++ * 1000 / rate) : 0;
        Step step = new Step();
        step.held = List.of(each);
        each.group.hold(each, this);
        ends(step, step.held);
        step.op = new QueueOp.Gone(queueId, each.group.groupId, each.position, false);
        steps.add(step);
        Step enqueue = new Step();
        TaskRecord record = from.read(each.position);
        enqueue.unique = to.uniqueKeys.claim(record, this);
        enqueue.op =
            new QueueOp.Enqueue(
                toQueueId, Deliveries.copy(record, null, runAt, enqueue.unique != null));
        steps.add(enqueue);
      }
      return found.size();
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  // ---- savepoints ----

  @Override
  public long mark() {
    center.enter();
    try {
      return steps.size();
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  @Override
  public void rollbackTo(long mark) {
    center.enter();
    try {
      while (steps.size() > mark) {
        undo(steps.removeLast());
      }
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  private void undo(Step step) {
    if (step.token != null) {
      ended.remove(step.token);
    }
    if (step.unique != null) {
      step.unique.queue.uniqueKeys.undo(step.unique);
    }
    if (step.sweep != null && step.swept != null) {
      step.swept.uniqueKeys.remove(step.sweep);
    }
    TaskEnd end = step.end;
    if (end != null) {
      step.held.forEach(each -> each.removeEnd(end));
      if (step.leased != null) {
        step.leased.removeEnd(end);
      }
    }
    for (TaskEntry each : step.held) {
      if (each.heldBy == this) {
        each.group.unhold(each);
      }
    }
    if (step.op instanceof QueueOp.CreateQueue(long queueId)) {
      created.remove(queueId);
    }
    if (step.op instanceof QueueOp.DropQueue(long queueId)) {
      QueueCore queue = center.queues.get(queueId);
      if (queue != null && queue.droppedBy == this) {
        queue.droppedBy = null;
      }
    }
  }

  // ---- the end ----

  @Override
  public void prepareCommit() {
    if (prepared) {
      return;
    }
    center.enter();
    try {
      List<QueueOp> result = new ArrayList<>(steps.size());
      for (Step each : steps) {
        LeaseToken token = each.token;
        if (token != null) {
          TaskEntry entry = leased(token);
          entry.group.hold(entry, this);
          each.held = List.of(entry);
          result.addAll(ending(each, entry));
        } else if (each.op instanceof QueueOp.Purge purge) {
          QueueOp.Purge spared = TaskSearch.spared(center, purge);
          result.add(spared);
          if (each.sweep != null) {
            each.sweep.written = spared;
          }
        } else if (each.op != null) {
          result.add(each.op);
        }
      }
      for (Step each : steps) {
        if (each.unique != null) {
          each.unique.queue.uniqueKeys.requireEnd(each.unique);
        }
      }
      ops = result;
      layOut();
      prepared = true;
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  private List<QueueOp> ending(Step step, TaskEntry entry) {
    GroupCore group = entry.group;
    long queueId = group.queue.queueId;
    return switch (step.ending) {
      case DONE -> List.of(new QueueOp.Done(queueId, group.groupId, entry.position));
      case RELEASED ->
          List.of(new QueueOp.Released(queueId, group.groupId, entry.position, entry.attempts - 1));
      case KILLED -> Deliveries.death(center, entry, step.error);
      case FAILED -> {
        long wall = center.wallMillis();
        if (step.last) {
          yield Deliveries.death(center, entry, step.error);
        }
        long wait =
            step.retryMillis >= 0
                ? Math.min(step.retryMillis, MAX_RETRY)
                : Backoff.jittered(
                    group.options(), entry.attempts, ThreadLocalRandom.current().nextDouble());
        yield List.of(
            new QueueOp.Failed(
                queueId,
                group.groupId,
                entry.position,
                entry.attempts,
                wait,
                wall + wait,
                step.error));
      }
    };
  }

  private void layOut() {
    long at = OpCodec.HEADER;
    IntArrayList found = new IntArrayList();
    for (QueueOp each : ops) {
      if (each instanceof QueueOp.Enqueue) {
        found.addInt((int) at);
      }
      at += OpCodec.bytes(each);
    }
    if (at > Integer.MAX_VALUE - 64) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "the transaction's changes of queues exceed 2 GB");
    }
    bytes = (int) at;
    offsets = found.toIntArray();
  }

  @Override
  public int encodedBytes() {
    return bytes;
  }

  @Override
  public void encode(byte[] into, int offset) {
    ByteBuffer out = ByteBuffer.wrap(into, offset, into.length - offset);
    out.putLong(-1).putInt(ops.size());
    for (QueueOp each : ops) {
      OpCodec.encode(each, out);
    }
  }

  @Override
  public void place(byte[] into, int offset, long recordNumber) {
    ByteBuffer out = ByteBuffer.wrap(into);
    sequence = ++center.lastPlaced;
    out.putLong(offset, sequence);
    int index = 0;
    for (QueueOp each : ops) {
      if (each instanceof QueueOp.Enqueue enqueue) {
        QueueCore queue = center.queues.get(enqueue.queueId);
        int at = offset + offsets[index++] + 1 + Long.BYTES + TaskRecord.POSITION;
        if (queue != null) {
          enqueue.position = queue.nextToGive++;
          out.putLong(at, enqueue.position);
        }
      } else if (each instanceof QueueOp.CreateQueue create) {
        center.place(create.queueId(), created.get(create.queueId()));
      }
    }
    record = recordNumber;
    center.placed.add(this);
  }

  List<QueueOp> ops() {
    return ops;
  }

  /// Its changes are durable, and seen by all.
  void applied() {
    for (Step each : steps) {
      if (each.sweep != null && each.swept != null) {
        each.swept.uniqueKeys.remove(each.sweep);
      }
    }
  }

  /// Whether a transaction's change may make tasks of a queue ready when it is durable.
  boolean readies(QueueCore queue) {
    if (own) {
      return false;
    }
    for (QueueOp each : ops) {
      if (each.queueId() == queue.queueId
          && (each instanceof QueueOp.Enqueue || queue.endsLetOthersStart())) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void ended(boolean committed) {
    uses.end();
    if (committed) {
      promise();
      return;
    }
    lost = record >= 0;
    center.enter();
    try {
      while (!steps.isEmpty()) {
        undo(steps.removeLast());
      }
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
  }

  /// Tasks that have just got their places go to consumers that wait. If they are many, none do: those are worth a flush of their own,
  /// which comes soon.
  private void promise() {
    if (ops.isEmpty() || record < 0 || own) {
      return;
    }
    center.enter();
    try {
      QueueCore hurried = null;
      for (QueueOp each : ops) {
        QueueCore queue = center.queues.get(each.queueId());
        if (queue == null || queue.equals(hurried) || !queue.hasWaiting()) {
          continue;
        }
        boolean promised =
            each instanceof QueueOp.Enqueue enqueue
                && offsets.length <= MOST_PROMISED
                && queue.promise(enqueue);
        if (!promised) {
          center.hurry(queue);
          hurried = queue;
        }
      }
    } finally {
      center.exit();
    }
  }
}
