package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.queue.TaskEntry.Phase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Steps that follow when records of the queues' own are durable. Guarded by the lock of the queue system.
final class Deliveries {
  private static final long BURY_AGAIN_NANOS = 1_000_000_000L;

  private Deliveries() {}

  /// A claim is durable, or has failed.
  static void claimed(
      QueueCenter center, GroupConsumers.Claim claim, @Nullable EngineException failure) {
    Waiter waiter = claim.waiter();
    List<LeasedTask> tasks = new ArrayList<>(claim.tasks().size());
    List<QueueOp> releases = new ArrayList<>();
    for (int at = 0; at < claim.entries().size(); at++) {
      TaskEntry entry = claim.entries().get(at);
      if (entry.phase != Phase.LEASED || !entry.claimPending) {
        continue; // Purged, or dropped with its queue.
      }
      if (failure != null) {
        entry.group.leave(entry);
        entry.attempts--;
        entry.group.ready(entry);
        center.toMatch(entry.group);
      } else if (waiter.ended) {
        releases.add(
            new QueueOp.Released(
                entry.group.queue.queueId,
                entry.group.groupId,
                entry.position,
                entry.attempts - 1));
      } else {
        entry.claimPending = false;
        center.arm(entry, entry.leaseNanos);
        tasks.add(claim.tasks().get(at));
      }
    }
    if (!releases.isEmpty()) {
      center.writer.add(releases, again -> releasedAgain(claim, again));
    }
    if (waiter.ended) {
      return;
    }
    waiter.ended = true;
    center.holders.left(waiter);
    if (failure == null) {
      center.later(() -> waiter.listener.received(tasks));
    } else {
      center.later(() -> waiter.listener.failed(failure));
    }
  }

  /// Gives back tasks that nobody was told of when the record of their release has failed: the attempt counts.
  private static void releasedAgain(GroupConsumers.Claim claim, @Nullable EngineException failure) {
    if (failure == null) {
      return;
    }
    for (TaskEntry each : claim.entries()) {
      if (each.phase == Phase.LEASED && each.claimPending) {
        each.group.giveBack(each);
      }
    }
  }

  /// Writes that a task is dead, which is held already.
  static void bury(QueueCenter center, TaskEntry entry) {
    String error =
        entry.lastError == null
            ? "it was handed out " + entry.attempts + " times, and no consumer said how it ended"
            : entry.lastError;
    center.writer.add(
        death(center, entry, error),
        failure -> {
          if (failure != null && entry.phase == Phase.HELD) {
            center.arm(entry, BURY_AGAIN_NANOS);
          }
        });
  }

  /// Changes by which a task is dead: it goes to the queue for dead letters, or stays where it is.
  static List<QueueOp> death(QueueCenter center, TaskEntry entry, String error) {
    QueueCore queue = entry.group.queue;
    long to = queue.options().deadLetter();
    QueueCore target = to == 0 || to == queue.queueId ? null : center.queues.get(to);
    if (target == null || target.dropped) {
      return List.of(new QueueOp.Dead(queue.queueId, entry.group.groupId, entry.position, error));
    }
    return List.of(
        new QueueOp.Gone(queue.queueId, entry.group.groupId, entry.position, true),
        new QueueOp.Enqueue(to, copy(queue.read(entry.position), error, 0, false)));
  }

  /// A task for another queue, with its number.
  ///
  /// @param runAtMillis 0: at once
  /// @param holds whether its unique key, if it has one, keeps others from having it there
  static byte[] copy(TaskRecord record, @Nullable String error, long runAtMillis, boolean holds) {
    return TaskRecord.encode(
        record.taskId,
        record.enqueuedMillis,
        record.payload(),
        record.key(),
        record.fair(),
        record.priority,
        runAtMillis,
        record.uniqueKey(),
        record.uniqueForMillis,
        holds,
        error);
  }
}
