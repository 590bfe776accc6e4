package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Applies changes of the log to queues: each once, in the order of their numbers, when they are durable or replayed. Guarded by the lock
/// of the queue system, but for [#failure].
///
/// So memory is a state of the log at every end of a critical section. If a change cannot be applied that is true no more: nothing is
/// handed out or forced from then on, and the next start replays.
public final class LogApplier {
  private static final Logger LOG = LoggerFactory.getLogger(LogApplier.class);

  private final QueueCenter center;
  private long lastApplied;

  /// Changed since their states were written.
  private Set<QueueCore> dirty = new LinkedHashSet<>();

  /// Gone since, though files may have a state of them.
  private List<QueueCore> gone = new ArrayList<>();

  /// Written once, in a critical section; read by any thread.
  private volatile @Nullable EngineException failure;

  LogApplier(QueueCenter center) {
    this.center = center;
  }

  // ---- applying ----

  /// Number of the last change that is applied.
  public long lastApplied() {
    return lastApplied;
  }

  /// The files have the changes up to a number.
  public void begin(long sequence) {
    lastApplied = sequence;
  }

  /// Applies what is durable; a failure stays.
  ///
  /// @return false: it is not applied, because of this failure or an earlier one
  public boolean applyDurable(List<QueueOp> ops, long sequence) {
    if (failure != null) {
      return false;
    }
    try {
      apply(ops, sequence);
      return true;
    } catch (RuntimeException e) {
      failure =
          e instanceof EngineException known
              ? known
              : new EngineException(
                  ErrorCode.INTERNAL_ERROR, "a change of queues could not be applied: " + e, e);
      LOG.error("A durable change of queues could not be applied", e);
      return false;
    }
  }

  /// Applies a record, unless it is applied already.
  public void apply(List<QueueOp> ops, long sequence) {
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
      QueueCore queue =
          center.queues.computeIfAbsent(op.queueId(), id -> new QueueCore(center, id));
      queue.created();
      dirty.add(queue);
      return;
    }
    QueueCore queue = center.queues.get(op.queueId());
    if (queue == null) {
      return;
    }
    dirty.add(queue);
    switch (op) {
      case QueueOp.Enqueue it -> {
        if (!center.isStarted()) {
          center.numbers.seen(TaskRecord.taskId(it.record));
        }
        queue.append(it.record, it.position);
      }
      case QueueOp.OfTask it -> apply(it, queue);
      case QueueOp.CreateGroup it -> queue.createGroup(it.groupId(), it.first());
      case QueueOp.DropGroup it -> queue.dropGroup(it.groupId());
      case QueueOp.Purge it -> queue.purge(it);
      case QueueOp.Fired it -> queue.fired(it.schedule(), it.millis());
      case QueueOp.DropQueue _ -> {
        queue.drop();
        center.queues.remove(queue.queueId);
        dirty.remove(queue);
        gone.add(queue);
      }
      case QueueOp.CreateQueue _ -> throw new IllegalStateException("seen above");
    }
  }

  private static void apply(QueueOp.OfTask op, QueueCore queue) {
    if (op.groupId() < 0) {
      for (GroupCore each : List.copyOf(queue.groups)) {
        op.applyTo(each.logged);
      }
      return;
    }
    GroupCore group = queue.group(op.groupId());
    if (group != null) {
      op.applyTo(group.logged);
    }
  }

  // ---- failure; any thread ----

  /// Why a change of the log could not be applied; null: all could.
  public @Nullable EngineException failure() {
    return failure;
  }

  /// @throws EngineException why an earlier change could not be applied
  public void requireSound() {
    EngineException why = failure;
    if (why != null) {
      throw new EngineException(why.code(), "the queues need a restart: " + why.getMessage(), why);
    }
  }

  // ---- states to be written ----

  /// Queues whose state has changed since it was written.
  public Set<QueueCore> dirty() {
    return dirty;
  }

  /// The same; they are the caller's, who writes their states, or gives them back.
  public Set<QueueCore> takeDirty() {
    Set<QueueCore> result = dirty;
    dirty = new LinkedHashSet<>();
    return result;
  }

  /// Queues that are gone, and whose states may be in files; they are the caller's.
  public List<QueueCore> takeGone() {
    List<QueueCore> result = gone;
    gone = new ArrayList<>();
    return result;
  }

  /// Takes back what could not be written.
  public void giveBack(Set<QueueCore> unwritten, List<QueueCore> goneBefore) {
    for (QueueCore each : unwritten) {
      if (!each.dropped) {
        dirty.add(each);
      }
    }
    gone.addAll(goneBefore);
  }
}
