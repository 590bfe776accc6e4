package dev.kakehashi.queue.change;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.Backoff;
import dev.kakehashi.queue.order.ChangeOwner;
import dev.kakehashi.queue.order.DeadTasks;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.UniqueTaskKeys.TaskEnd;
import dev.kakehashi.queue.record.QueueOp;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// A transaction ends the attempt of a task that is lent to it. The lease goes on until the commit, and may pass before it. Guarded by the
/// lock of the queue system.
public final class LeaseEnding extends ChangeStep {
  private static final int MAX_ERROR = 8192;

  /// Ten years.
  private static final long MAX_RETRY = 315_360_000_000L;

  final LeaseToken token;
  private final Kind kind;
  private final String error;
  private final long retryMillis;

  /// Whether a failure was that of the last attempt when it was said. That counts, because others have been told numbers by it.
  private final boolean last;

  /// The entry that has [#end], while it is not held.
  private @Nullable TaskEntry leased;

  /// How an attempt ends.
  enum Kind {
    DONE,
    /// The task is handed out again, or is dead.
    FAILED,
    /// The task is dead.
    KILLED,
    /// The attempt does not count.
    RELEASED
  }

  /// @param entry the one that the token names
  /// @param retryMillis wait before the next attempt; negative: by the queue's backoff
  LeaseEnding(
      QueueCenter center,
      ChangeOwner owner,
      TaskEntry entry,
      LeaseToken token,
      Kind kind,
      String error,
      long retryMillis) {
    super(null);
    this.token = token;
    this.kind = kind;
    this.error = error.length() > MAX_ERROR ? error.substring(0, MAX_ERROR) : error;
    this.retryMillis = retryMillis;
    last =
        kind == Kind.KILLED
            || (kind == Kind.FAILED
                && Backoff.exhausted(
                    entry.group.options(),
                    entry.attempts,
                    entry.enqueuedMillis,
                    center.clock.wallMillis()));
    if (entry.unique && (kind == Kind.DONE || last)) {
      leased = entry;
      end = new TaskEnd(owner, token);
      entry.addEnd(end);
    }
  }

  /// The entry of a lease that no transaction ends yet.
  ///
  /// @throws EngineException LEASE_LOST
  public static TaskEntry leased(QueueCenter center, LeaseToken token) {
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
  void write(QueueCenter center, ChangeOwner owner, List<QueueOp> into) {
    TaskEntry entry = leased(center, token);
    entry.group.hold(entry, owner);
    held = List.of(entry);
    into.addAll(ops(center, entry));
  }

  private List<QueueOp> ops(QueueCenter center, TaskEntry entry) {
    GroupCore group = entry.group;
    long queueId = group.queue.queueId;
    return switch (kind) {
      case DONE -> List.of(new QueueOp.Done(queueId, group.groupId, entry.position));
      case RELEASED ->
          List.of(new QueueOp.Released(queueId, group.groupId, entry.position, entry.attempts - 1));
      case KILLED -> DeadTasks.death(center, entry, error);
      case FAILED -> last ? DeadTasks.death(center, entry, error) : List.of(failed(center, entry));
    };
  }

  private QueueOp failed(QueueCenter center, TaskEntry entry) {
    GroupCore group = entry.group;
    long wall = center.clock.wallMillis();
    long wait =
        retryMillis >= 0
            ? Math.min(retryMillis, MAX_RETRY)
            : Backoff.jittered(
                group.options(), entry.attempts, ThreadLocalRandom.current().nextDouble());
    return new QueueOp.Failed(
        group.queue.queueId,
        group.groupId,
        entry.position,
        entry.attempts,
        wait,
        wall + wait,
        error);
  }

  @Override
  void removeEnd(TaskEnd mark) {
    super.removeEnd(mark);
    if (leased != null) {
      leased.removeEnd(mark);
    }
  }
}
