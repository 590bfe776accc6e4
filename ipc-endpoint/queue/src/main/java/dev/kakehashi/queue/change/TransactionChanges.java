package dev.kakehashi.queue.change;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.ChangeOwner;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.order.TaskSearch;
import dev.kakehashi.queue.order.UniqueTaskKeys.UniqueTask;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskLimits;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.QueueLock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Changes that one transaction makes to queues: its calls, each of which becomes a [ChangeStep], and its end.
///
/// Before the commit it is guarded by the lock of the queue system. From [#prepareCommit] on it belongs to the committing thread, which
/// takes the lock where it touches queues. Its bytes and its place are in [#written].
public final class TransactionChanges implements QueueChanges, ChangeOwner {
  private static final int MOST_PROMISED = 16;

  /// Bytes and place; made by [#prepareCommit].
  public final WrittenChanges written;

  private final QueueCenter center;
  private final PlacedChanges placed;
  private final List<ChangeStep> steps = new ArrayList<>();

  /// Queues that it makes, until they have their place.
  private final Map<Long, QueueCore> created = new HashMap<>(2);

  private final Set<LeaseToken> ended = new HashSet<>(4);
  private final QueueUses uses = new QueueUses(this);
  private boolean prepared;

  public TransactionChanges(PlacedChanges placed) {
    this(placed, false);
  }

  private TransactionChanges(PlacedChanges placed, boolean own) {
    this.center = placed.center;
    this.placed = placed;
    written = new WrittenChanges(own);
  }

  /// Changes of the queues' own, ready to be written.
  static TransactionChanges own(PlacedChanges placed, List<QueueOp> ops) {
    return prepared(placed, ops, true);
  }

  /// Changes of a transaction that an earlier run prepared.
  public static TransactionChanges recovered(PlacedChanges placed, List<QueueOp> ops) {
    TransactionChanges result = prepared(placed, ops, false);
    RecoveredChanges recovered = new RecoveredChanges(placed.center, result, result.uses);
    for (QueueOp each : ops) {
      result.steps.add(recovered.step(each));
    }
    return result;
  }

  private static TransactionChanges prepared(PlacedChanges placed, List<QueueOp> ops, boolean own) {
    TransactionChanges result = new TransactionChanges(placed, own);
    result.written.set(ops);
    result.prepared = true;
    return result;
  }

  @Override
  public boolean sweepsLater(UniqueTask own) {
    if (own.untilMillis != 0) {
      return false;
    }
    for (int at = steps.size() - 1; at >= 0; at--) {
      ChangeStep each = steps.get(at);
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

  // ---- tasks ----

  @Override
  public long enqueue(long queueId, NewTask task) {
    TaskLimits.check(task);
    center.lock.enter();
    try {
      QueueCore queue = queue(queueId);
      uses.use(queue);
      String key = task.uniqueKey();
      long id = 0;
      UniqueTask unique = null;
      long now = center.clock.wallMillis();
      if (key != null) {
        UniqueTask other = queue.uniqueKeys.holder(key, this);
        if (other != null) {
          return other.taskId;
        }
        id = center.numbers.newTaskId();
        long until = task.uniqueForMillis() == 0 ? 0 : now + task.uniqueForMillis();
        unique = queue.uniqueKeys.claim(key, id, until, this);
      } else {
        id = center.numbers.newTaskId();
      }
      ChangeStep step =
          new ChangeStep(
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
                      null)));
      step.unique = unique;
      steps.add(step);
      return id;
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  private QueueCore queue(long queueId) {
    center.log.requireSound();
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
    end(token, LeaseEnding.Kind.DONE, "", 0);
  }

  @Override
  public void fail(LeaseToken token, String error, long retryMillis) {
    end(token, LeaseEnding.Kind.FAILED, error, retryMillis);
  }

  @Override
  public void failForGood(LeaseToken token, String error) {
    end(token, LeaseEnding.Kind.KILLED, error, -1);
  }

  @Override
  public void requirePushTarget(String url) {
    center.requirePushTarget(url);
  }

  @Override
  public void release(LeaseToken token) {
    end(token, LeaseEnding.Kind.RELEASED, "", 0);
  }

  private void end(LeaseToken token, LeaseEnding.Kind kind, String error, long retryMillis) {
    center.lock.enter();
    try {
      TaskEntry entry = LeaseEnding.leased(center, token);
      if (!ended.add(token)) {
        throw LeaseEnding.lost();
      }
      steps.add(new LeaseEnding(center, this, entry, token, kind, error, retryMillis));
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public boolean cancel(long queueId, long taskId) {
    center.lock.enter();
    try {
      QueueCore queue = queue(queueId);
      long position = TaskSearch.find(queue, taskId);
      if (position < 0) {
        return false;
      }
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
      ChangeStep step = new ChangeStep(new QueueOp.Gone(queueId, -1, position, false));
      step.end(held, this);
      steps.add(step);
      return true;
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  // ---- queues ----

  private void step(QueueOp op) {
    center.lock.enter();
    try {
      steps.add(new ChangeStep(op));
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public void createQueue(long queueId) {
    step(new QueueOp.CreateQueue(queueId));
    created.put(queueId, new QueueCore(center, queueId));
  }

  @Override
  public void dropQueue(long queueId) {
    center.lock.enter();
    try {
      QueueCore queue = center.queues.get(queueId);
      if (queue != null) {
        uses.drop(queue);
      }
      step(new QueueOp.DropQueue(queueId));
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public void createGroup(long queueId, long groupId, boolean first) {
    step(new QueueOp.CreateGroup(queueId, groupId, first));
  }

  @Override
  public void dropGroup(long queueId, long groupId) {
    center.lock.enter();
    try {
      ChangeStep step = new ChangeStep(new QueueOp.DropGroup(queueId, groupId));
      step.sweep(center.queues.get(queueId), groupId, this);
      steps.add(step);
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public void purge(long queueId, boolean deadOnly) {
    center.lock.enter();
    try {
      ChangeStep step =
          new ChangeStep(new QueueOp.Purge(queueId, deadOnly, new long[0], new long[0]));
      if (!deadOnly) {
        step.sweep(center.queues.get(queueId), -1, this);
      }
      steps.add(step);
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public long move(
      long queueId, long toQueueId, boolean dead, long max, @Nullable String error, double rate) {
    center.lock.enter();
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
      long now = center.clock.wallMillis();
      long moved = 0;
      for (TaskEntry each : found) {
        long runAt = rate > 0 ? now + (long) (moved++ * 1000 / rate) : 0;
        steps.add(goneStep(queueId, each));
        steps.add(comingStep(to, from.read(each.position), runAt));
      }
      return found.size();
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  private ChangeStep goneStep(long queueId, TaskEntry entry) {
    ChangeStep step =
        new ChangeStep(new QueueOp.Gone(queueId, entry.group.groupId, entry.position, false));
    entry.group.hold(entry, this);
    step.end(List.of(entry), this);
    return step;
  }

  private ChangeStep comingStep(QueueCore to, TaskRecord record, long runAtMillis) {
    UniqueTask unique = to.uniqueKeys.claim(record, this);
    ChangeStep step =
        new ChangeStep(
            new QueueOp.Enqueue(to.queueId, record.copy(null, runAtMillis, unique != null)));
    step.unique = unique;
    return step;
  }

  // ---- savepoints ----

  @Override
  public long mark() {
    center.lock.enter();
    try {
      return steps.size();
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public void rollbackTo(long mark) {
    center.lock.enter();
    try {
      while (steps.size() > mark) {
        undo(steps.removeLast());
      }
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  private void undo(ChangeStep step) {
    if (step instanceof LeaseEnding ending) {
      ended.remove(ending.token);
    }
    step.undo(this);
    if (step.op instanceof QueueOp.CreateQueue(long queueId)) {
      created.remove(queueId);
    }
    if (step.op instanceof QueueOp.DropQueue(long queueId)) {
      QueueCore queue = center.queues.get(queueId);
      if (queue != null && equals(queue.droppedBy)) {
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
    center.lock.enter();
    try {
      List<QueueOp> result = new ArrayList<>(steps.size());
      for (ChangeStep each : steps) {
        each.write(center, this, result);
      }
      for (ChangeStep each : steps) {
        if (each.unique != null) {
          each.unique.queue.uniqueKeys.requireEnd(each.unique);
        }
      }
      written.set(result);
      prepared = true;
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public int encodedBytes() {
    return written.encodedBytes();
  }

  @Override
  public void encode(byte[] into, int offset) {
    written.encode(into, offset);
  }

  @Override
  public void place(byte[] into, int offset, long recordNumber) {
    written.place(into, offset, recordNumber, placed, created);
    placed.add(this);
  }

  /// Its changes are durable, and seen by all.
  void applied() {
    steps.forEach(ChangeStep::applied);
  }

  @Override
  public void ended(boolean committed) {
    uses.end();
    if (committed) {
      promise();
      return;
    }
    written.lose();
    center.lock.enter();
    try {
      while (!steps.isEmpty()) {
        undo(steps.removeLast());
      }
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  /// Tasks that have just got their places go to consumers that wait. If they are many, none do: those are worth a flush of their own,
  /// which comes soon.
  private void promise() {
    if (written.ops().isEmpty() || written.record() < 0 || written.isOwn()) {
      return;
    }
    center.lock.enter();
    try {
      QueueCore hurried = null;
      for (QueueOp each : written.ops()) {
        QueueCore queue = center.queues.get(each.queueId());
        if (queue == null || queue.equals(hurried) || !queue.hasWaiting()) {
          continue;
        }
        boolean promised =
            each instanceof QueueOp.Enqueue enqueue
                && written.newTasks() <= MOST_PROMISED
                && queue.promise(enqueue);
        if (!promised) {
          placed.hurry(queue);
          hurried = queue;
        }
      }
    } finally {
      center.lock.exit();
    }
  }
}
