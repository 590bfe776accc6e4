package dev.kakehashi.queue.deliver;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.queue.change.PlacedChanges;
import dev.kakehashi.queue.change.RecordWriter;
import dev.kakehashi.queue.file.SegmentFiles;
import dev.kakehashi.queue.order.DeadTasks;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.GroupDelivery;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.TaskDelivery;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.QueueOp;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The parts that all groups' consumers share, and the way of a claim: written, then told when it is durable. Guarded by the lock of the
/// queue system.
///
/// A task is lent from its claim on, and nobody is told of it before the claim is durable. So no crash takes back what a consumer has. A
/// call that ends meanwhile gets nothing: its tasks are given back, and their attempts do not count.
public final class Deliveries implements TaskDelivery {
  /// Longest wait of a call for a disk that takes no writes.
  private static final long LONGEST_LOOK_NANOS = 1_000_000_000L;

  private static final long BURY_AGAIN_NANOS = 1_000_000_000L;

  public final QueueCenter center;
  public final PlacedChanges placed;
  public final RecordWriter writer;
  public final LeaseHolders holders = new LeaseHolders();
  final WakeupWatchdog watchdog;

  /// Calls without a wait that look at what is being written first.
  private final List<Waiter> looking = new ArrayList<>(1);

  /// @param incarnation number of this run
  public Deliveries(SegmentFiles files, long incarnation) {
    center = new QueueCenter(files, incarnation, this);
    placed = new PlacedChanges(center);
    writer = placed.writer;
    watchdog = new WakeupWatchdog(center);
  }

  // ---- for the order ----

  @Override
  public GroupDelivery newGroup(GroupCore group) {
    return new GroupConsumers(group, this);
  }

  @Override
  public void leaseEnded(TaskEntry entry) {
    holders.leaseEnded(entry);
  }

  @Override
  public @Nullable Runnable nextWrite() {
    return writer.next();
  }

  /// Writes that a task is dead, which is held already.
  @Override
  public void bury(TaskEntry entry) {
    String error =
        entry.lastError == null
            ? "it was handed out " + entry.attempts + " times, and no consumer said how it ended"
            : entry.lastError;
    writer.add(
        DeadTasks.death(center, entry, error),
        failure -> {
          if (failure != null && entry.phase == Phase.HELD) {
            center.clock.arm(entry, BURY_AGAIN_NANOS);
          }
        });
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
    writer.add(ops, failure -> claimed(claim, failure));
  }

  /// A claim is durable, or has failed.
  void claimed(GroupConsumers.Claim claim, @Nullable EngineException failure) {
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
        center.clock.arm(entry, entry.leaseNanos);
        tasks.add(claim.tasks().get(at));
      }
    }
    if (!releases.isEmpty()) {
      writer.add(releases, again -> releasedAgain(claim, again));
    }
    if (waiter.ended) {
      return;
    }
    waiter.ended = true;
    holders.left(waiter);
    if (failure == null) {
      center.lock.later(() -> waiter.listener.received(tasks));
    } else {
      center.lock.later(() -> waiter.listener.failed(failure));
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

  // ---- calls without a wait ----

  /// Lets a call without a wait end with nothing only when what was committed before it is durable. So a client that has committed a task
  /// and asks for it gets it.
  ///
  /// @return false: there is no such task
  boolean endWhenDurable(Waiter waiter) {
    QueueCore queue = waiter.consumers.group.queue;
    long last = placed.lastUndurable(queue);
    if (last < 0) {
      return false;
    }
    placed.hurry(queue);
    waiter.until = last;
    looking.add(waiter);
    center.clock.arm(waiter, LONGEST_LOOK_NANOS);
    return true;
  }

  /// Changes committed up to a record are applied.
  public void endWaits(long record) {
    for (int i = looking.size() - 1; i >= 0; i--) {
      Waiter each = looking.get(i);
      if (each.ended || each.until <= record) {
        looking.remove(i);
        each.consumers.match();
        each.consumers.endIfWaiting(each);
      }
    }
  }
}
