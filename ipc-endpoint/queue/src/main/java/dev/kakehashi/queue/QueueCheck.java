package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.DelayedSegment;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.QueueSegment;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.TaskRecord;
import java.util.function.Consumer;

/// Compares the files of queues, their counts and their order with each other. Holds the lock of the queue system for one segment at a
/// time; counts are compared of groups that did not change meanwhile.
final class QueueCheck {
  private final QueueCenter center;
  private final Consumer<String> problem;

  QueueCheck(QueueCenter center, Consumer<String> problem) {
    this.center = center;
    this.problem = problem;
  }

  void run() {
    for (QueueCore queue : center.queues.values()) {
      center.lock.enter();
      try {
        for (QueueSegment each : queue.segments) {
          segment(queue, each);
        }
        for (GroupCore each : queue.groups) {
          group(each);
        }
      } finally {
        center.lock.exit();
      }
    }
  }

  private void segment(QueueCore queue, QueueSegment segment) {
    try {
      int[] open = new int[segment.open.length];
      for (long position = segment.base; position < segment.base + segment.count; position++) {
        TaskRecord record = queue.read(segment, position);
        if (record == null) {
          continue;
        }
        int second =
            segment
                .index(center.files)
                .getInt((int) (position - segment.base) * TaskSegment.ENTRY + TaskSegment.SECOND);
        if (second != 0 && second != DelayedSegment.second(record.runAtMillis)) {
          problem.accept(
              "queue " + queue.queueId + ": the index has another time of task " + position);
        }
        for (GroupCore group : queue.groups) {
          TaskEntry entry = group.entries.get(position);
          if (group.slot < open.length && (entry != null || group.isInChain(record))) {
            open[group.slot]++;
          }
        }
      }
      for (GroupCore group : queue.groups) {
        int counted = group.slot < open.length ? open[group.slot] : 0;
        int kept = group.slot < open.length ? segment.open[group.slot] : 0;
        if (counted != kept) {
          problem.accept(
              "queue "
                  + queue.queueId
                  + ", group "
                  + group.groupId
                  + ": "
                  + counted
                  + " tasks from position "
                  + segment.base
                  + " on are open, but "
                  + kept
                  + " are counted");
        }
      }
    } catch (EngineException e) {
      problem.accept("queue " + queue.queueId + ": " + e.getMessage());
    }
  }

  private void group(GroupCore group) {
    long open = 0;
    long waiting = 0;
    for (QueueSegment each : group.queue.segments) {
      open += group.slot < each.open.length ? each.open[group.slot] : 0;
      waiting += group.delays.waiting(each);
    }
    long over = 0;
    long leased = 0;
    long delayed = waiting;
    long dead = 0;
    for (TaskEntry each : group.entries.values()) {
      over += each.phase == Phase.GONE ? 1 : 0;
      leased += each.phase == Phase.LEASED ? 1 : 0;
      delayed += each.phase == Phase.DELAYED ? 1 : 0;
      dead += each.phase == Phase.DEAD ? 1 : 0;
    }
    String name = "queue " + group.queue.queueId + ", group " + group.groupId + ": ";
    if (open - over != group.enqueued - group.done - group.canceled) {
      problem.accept(
          name
              + (open - over)
              + " tasks are open, but the counts say "
              + (group.enqueued - group.done - group.canceled));
    }
    if (leased != group.leased || delayed != group.delayed || dead != group.dead) {
      problem.accept(
          name
              + ("leased, delayed, dead are " + leased + ", " + delayed + ", " + dead)
              + (" but counted as " + group.leased + ", " + group.delayed + ", " + group.dead));
    }
    for (QueueSegment each : group.queue.segments) {
      if (!group.delays.willCome(each)) {
        problem.accept(name + "nothing looks after delayed tasks from position " + each.base);
      }
    }
    for (TaskEntry each : group.entries.values()) {
      if (each.phase == Phase.DELAYED && each.heapIndex < 0) {
        problem.accept(name + "nothing looks after the delayed task " + each.position);
      }
    }
    if (group.ready() < 0) {
      problem.accept(name + group.ready() + " tasks are ready");
    }
  }
}
