package dev.kakehashi.queue.order;

import dev.kakehashi.queue.order.TaskEntry.Phase;
import java.util.List;

/// Makes a new group see the open tasks of another one: chains are copied by their ends, so a backlog costs nothing. Guarded by the lock of
/// the queue system.
final class GroupCopy {
  private GroupCopy() {}

  static void copy(GroupCore from, GroupCore to) {
    for (TaskEntry each : List.copyOf(from.entries.values())) {
      boolean over = each.phase == Phase.GONE;
      if (over && !each.inChain) {
        continue;
      }
      from.know(each);
      TaskEntry entry = new TaskEntry(to, each.position);
      to.know(entry, to.queue.read(each.position), each.chain == null ? null : each.chain.key);
      entry.inChain = each.inChain;
      to.entries.put(each.position, entry);
      if (over) {
        entry.phase = Phase.GONE;
      } else {
        to.enqueued++;
        if (each.phase == Phase.DELAYED && each.attempts == 0) {
          entry.runAtMillis = each.runAtMillis;
          to.delayByWall(entry);
        }
      }
    }
    from.delays.copyTo(to.delays);
    for (PriorityLevel level : from.levels) {
      if (level == null) {
        continue;
      }
      for (FairLane each : level.all()) {
        if (each.head >= 0) {
          FairLane lane = to.level(level.priority).lane(each.fair);
          lane.head = each.head;
          lane.tail = each.tail;
          lane.level.activate(lane);
        }
      }
    }
    for (KeyChain each : from.keys.values()) {
      if (each.head >= 0) {
        KeyChain chain = to.chain(each.key);
        chain.head = each.head;
        chain.tail = each.tail;
        chain.headPriority = each.headPriority;
        chain.headFair = each.headFair;
      }
    }
    for (QueueSegment each : to.queue.segments) {
      each.openSlot(to.slot);
      int open = from.slot < each.open.length ? each.open[from.slot] : 0;
      each.open[to.slot] = open;
    }
    to.enqueued += from.enqueued - from.done - from.canceled - entries(from);
    if (to.center.isStarted()) {
      to.start();
    }
  }

  /// Open tasks that have entries.
  private static long entries(GroupCore group) {
    long result = 0;
    for (TaskEntry each : group.entries.values()) {
      if (each.phase != Phase.GONE) {
        result++;
      }
    }
    return result;
  }
}
