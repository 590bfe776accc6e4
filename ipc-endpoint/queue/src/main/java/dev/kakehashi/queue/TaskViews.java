package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueState.TaskCounts;
import dev.kakehashi.engine.api.queue.QueueSystem.TaskVisitor;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.engine.api.queue.TaskView.Lease;
import dev.kakehashi.engine.api.queue.TaskView.Order;
import dev.kakehashi.queue.deliver.GroupConsumers;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.FairLane;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.PriorityLevel;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.QueueSegment;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Views of queues for operators. Takes the lock of the queue system for some tasks at a time.
final class TaskViews {
  private static final int BATCH = 128;

  private TaskViews() {}

  static List<QueueState> states(QueueCenter center) {
    List<QueueState> result = new ArrayList<>();
    center.lock.enter();
    try {
      for (QueueCore queue : center.queues.values()) {
        long bytes = 0;
        for (QueueSegment each : queue.segments) {
          bytes += each.bytes + (long) each.count * TaskSegment.ENTRY;
        }
        for (GroupCore each : queue.groups) {
          result.add(state(each, bytes));
        }
      }
    } finally {
      center.lock.exit();
    }
    return result;
  }

  private static QueueState state(GroupCore group, long fileBytes) {
    QueueCenter center = group.center;
    long nanos = center.clock.nanoTime();
    GroupConsumers consumers = GroupConsumers.of(group);
    long oldestLease = 0;
    for (TaskEntry each : group.entries.values()) {
      if (each.phase == Phase.LEASED) {
        oldestLease = Math.max(oldestLease, nanos - each.leasedNanos);
      }
    }
    return new QueueState(
        group.queue.queueId,
        group.groupId,
        new TaskCounts(
            group.enqueued,
            group.ready(),
            group.delayed,
            group.leased,
            group.done,
            group.dead,
            group.deadLetters,
            group.canceled - group.deadLetters),
        oldestReady(group),
        oldestLease / 1_000_000,
        consumers.waiting(),
        consumers.keptRate(),
        consumers.missedWakeups,
        fileBytes);
  }

  /// Age of the oldest ready task, in milliseconds: the oldest one of each lane is next there.
  private static long oldestReady(GroupCore group) {
    long oldest = Long.MAX_VALUE;
    for (PriorityLevel level : group.levels) {
      if (level == null) {
        continue;
      }
      for (FairLane lane : level.all()) {
        long position = lane.peek();
        if (position >= 0) {
          TaskRecord record = group.queue.read(position);
          oldest = Math.min(oldest, Math.max(record.enqueuedMillis, record.runAtMillis));
        }
      }
    }
    return oldest == Long.MAX_VALUE ? 0 : Math.max(0, group.center.clock.wallMillis() - oldest);
  }

  static void tasks(QueueCenter center, long queueId, TaskVisitor visitor) {
    long[] next = {0};
    for (; ; ) {
      List<TaskView> batch = batch(center, queueId, next);
      if (batch == null) {
        return;
      }
      for (TaskView each : batch) {
        if (!visitor.task(each)) {
          return;
        }
      }
    }
  }

  /// @param next position to begin with; moved on
  /// @return null: there is no more
  private static @Nullable List<TaskView> batch(QueueCenter center, long queueId, long[] next) {
    center.lock.enter();
    try {
      QueueCore queue = center.queues.get(queueId);
      QueueSegment segment = queue == null ? null : segmentFrom(queue, next[0]);
      if (queue == null || segment == null) {
        return null;
      }
      List<TaskView> result = new ArrayList<>();
      long position = Math.max(next[0], segment.base);
      long end = Math.min(segment.base + segment.count, position + BATCH);
      for (; position < end; position++) {
        TaskRecord record = queue.read(segment, position);
        if (record == null) {
          continue;
        }
        for (GroupCore group : queue.groups) {
          TaskView view = view(group, record);
          if (view != null) {
            result.add(view);
          }
        }
      }
      next[0] = end;
      return result;
    } finally {
      center.lock.exit();
    }
  }

  private static @Nullable QueueSegment segmentFrom(QueueCore queue, long position) {
    for (QueueSegment each : queue.segments) {
      if (each.base + each.count > position) {
        return each;
      }
    }
    return null;
  }

  static void leases(QueueCenter center, List<TaskView> into) {
    center.lock.enter();
    try {
      for (Map.Entry<Long, QueueCore> each : center.queues.entrySet()) {
        QueueCore queue = each.getValue();
        for (GroupCore group : queue.groups) {
          if (group.leased == 0) {
            continue;
          }
          for (TaskEntry entry : group.entries.values()) {
            if (entry.phase == Phase.LEASED) {
              TaskView view = view(group, queue.read(entry.position));
              if (view != null) {
                into.add(view);
              }
            }
          }
        }
      }
    } finally {
      center.lock.exit();
    }
  }

  private static @Nullable TaskView view(GroupCore group, TaskRecord record) {
    TaskEntry entry = group.entries.get(record.position);
    if (entry == null ? !group.isInChain(record) : entry.phase == Phase.GONE) {
      return null;
    }
    TaskView.State state = record.runAtMillis == 0 ? TaskView.State.READY : TaskView.State.DELAYED;
    int attempts = 0;
    long runAt = record.runAtMillis;
    String error = record.error();
    Lease lease = null;
    if (entry != null) {
      state =
          switch (entry.phase == Phase.HELD ? entry.before : entry.phase) {
            case LEASED -> TaskView.State.LEASED;
            case DELAYED -> TaskView.State.DELAYED;
            case DEAD -> TaskView.State.DEAD;
            default -> TaskView.State.READY;
          };
      attempts = entry.attempts;
      runAt = entry.runAtMillis;
      error = entry.lastError == null ? error : entry.lastError;
      LeaseHolder of = entry.holder;
      if (entry.phase == Phase.LEASED) {
        lease = new Lease(of == null ? "" : of.name(), entry.leaseEndMillis);
      }
    }
    return new TaskView(
        group.queue.queueId,
        group.groupId,
        record.taskId,
        record.position,
        state,
        attempts,
        new Order(record.key(), record.fair(), record.priority),
        record.enqueuedMillis,
        runAt,
        error,
        lease,
        record.payload());
  }
}
