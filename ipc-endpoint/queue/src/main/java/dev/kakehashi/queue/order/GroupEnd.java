package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import java.util.List;
import org.agrona.collections.LongHashSet;

/// Ends many tasks of a group at once: as many steps as it has entries and chains, whatever the backlog. Guarded by the lock of the queue
/// system.
final class GroupEnd {
  private GroupEnd() {}

  static void purgeDead(GroupCore group) {
    for (TaskEntry each : List.copyOf(group.entries.values())) {
      if (each.phase == Phase.DEAD || (each.phase == Phase.HELD && each.before == Phase.DEAD)) {
        group.canceled++;
        group.finish(each);
      }
    }
  }

  /// Ends all tasks but the spared ones, which get entries.
  static void purge(GroupCore group, LongHashSet spared) {
    for (long position : spared) {
      group.entry(position);
    }
    long open = 0;
    for (TaskEntry each : List.copyOf(group.entries.values())) {
      if (spared.contains(each.position) && each.phase != Phase.GONE) {
        each.inChain = false;
        open++;
      } else {
        end(group, each);
        group.entries.remove(each.position);
      }
    }
    group.delays.clear();
    for (PriorityLevel level : group.levels) {
      if (level != null) {
        for (FairLane lane : level.all()) {
          lane.head = -1;
          lane.tail = -1;
        }
      }
    }
    for (KeyChain chain : List.copyOf(group.keys.values())) {
      chain.head = -1;
      chain.tail = -1;
      chain.offered = null;
      group.offerKey(chain);
    }
    group.queue.purged(group);
    group.canceled = group.enqueued - group.done - open;
    group.center.toMatch(group);
  }

  /// The group is gone: its leases are lost, its calls end with nothing.
  static void end(GroupCore group) {
    for (TaskEntry each : List.copyOf(group.entries.values())) {
      end(group, each);
    }
    group.entries.clear();
    group.delays.clear();
    for (KeyChain chain : group.keys.values()) {
      group.center.clock.disarm(chain);
    }
    group.consumers.end();
  }

  private static void end(GroupCore group, TaskEntry entry) {
    LeaseHolder holder = entry.holder;
    if (entry.phase == Phase.LEASED && holder != null) {
      var token = entry.token();
      group.center.lock.later(() -> holder.lost(token));
    }
    group.leave(entry);
    group.delays.left(entry);
    entry.phase = Phase.GONE;
  }
}
