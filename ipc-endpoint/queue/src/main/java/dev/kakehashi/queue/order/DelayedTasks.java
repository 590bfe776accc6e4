package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.record.TaskRecord;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Tasks of a group that were enqueued for later: they stay in their segments, and cost a bit of memory each. Guarded by the lock of the
/// queue system.
///
/// Tasks whose second has come get entries, but not more than [#MOST_LOADED] that nobody has taken; the others follow when those are handed
/// out. Tasks with a key have entries from the beginning, because they hold back those behind them.
public final class DelayedTasks {
  /// Entries that nobody has taken yet.
  public static final int MOST_LOADED = Integer.getInteger("kakehashi.queue.loadedTasks", 8192);

  final GroupCore group;
  private int loaded;

  /// Segments that have more whose time has come; made when they are needed.
  private @Nullable List<DelayedSegment> blocked;

  DelayedTasks(GroupCore group) {
    this.group = group;
  }

  private @Nullable DelayedSegment of(@Nullable QueueSegment segment) {
    return segment == null ? null : segment.delayed(group.slot);
  }

  /// A task was appended to a segment.
  ///
  /// @param second of its time, as the index has it
  void added(QueueSegment segment, long position, int second) {
    DelayedSegment delayed = of(segment);
    if (delayed == null) {
      delayed = new DelayedSegment(this, segment, position, new BitSet());
      segment.setDelayed(group.slot, delayed);
    }
    group.delayed++;
    delayed.added(second);
  }

  boolean isWaiting(long position) {
    DelayedSegment delayed = of(group.queue.segmentIfThere(position));
    return delayed != null && delayed.isWaiting(position);
  }

  public int waiting(QueueSegment segment) {
    DelayedSegment delayed = of(segment);
    return delayed == null ? 0 : delayed.waiting;
  }

  /// Whether what waits in a segment has a deadline, or is loaded as soon as there is room.
  public boolean willCome(QueueSegment segment) {
    DelayedSegment delayed = of(segment);
    return delayed == null
        || delayed.waiting == 0
        || delayed.heapIndex >= 0
        || (blocked != null && blocked.contains(delayed));
  }

  /// A task that waits gets an entry out of its turn.
  void take(TaskEntry entry, TaskRecord record) {
    DelayedSegment delayed = of(group.queue.segmentIfThere(entry.position));
    if (delayed == null) {
      throw new IllegalStateException("task " + entry.position + " does not wait");
    }
    delayed.take(entry.position);
    group.delayed--;
    entry.runAtMillis = record.runAtMillis;
    group.delayByWall(entry);
  }

  EngineException missing(QueueSegment segment, int waiting) {
    return new EngineException(
        ErrorCode.DATA_CORRUPTED,
        "queue %d has %d delayed tasks from position %d on, and its index says something else"
            .formatted(group.queue.queueId, waiting, segment.base));
  }

  // ---- when their time comes ----

  private int now() {
    return DelayedSegment.second(group.center.clock.wallMillis());
  }

  /// The deadline of a segment has come.
  void reached(DelayedSegment segment) {
    List<DelayedSegment> now = blocked;
    if (now == null) {
      now = new ArrayList<>(1);
      blocked = now;
    }
    now.add(segment);
    refill();
  }

  /// Loads tasks until there are enough, those of the earliest second first.
  void refill() {
    int now = now();
    for (List<DelayedSegment> todo = blocked;
        todo != null && loaded < MOST_LOADED;
        todo = blocked) {
      DelayedSegment first = null;
      int second = Integer.MAX_VALUE;
      for (DelayedSegment each : todo) {
        int next = each.first();
        if (first == null || next < first.next) {
          second = first == null ? second : first.next;
          first = each;
        } else {
          second = Math.min(second, next);
        }
      }
      if (first == null) {
        blocked = null;
        return;
      }
      first.load(MOST_LOADED - loaded, Math.min(now, second));
      if (first.next > now) {
        todo.remove(first);
        first.arm();
        if (todo.isEmpty()) {
          blocked = null;
        }
      }
    }
    group.center.toMatch(group);
  }

  /// It waits in its segment no more.
  void load(long position) {
    TaskRecord record = group.queue.read(position);
    TaskEntry entry = new TaskEntry(group, position);
    entry.runAtMillis = record.runAtMillis;
    group.know(entry, record, null);
    group.entries.put(position, entry);
    group.delayed--;
    count(entry);
    if (record.runAtMillis > group.center.clock.wallMillis()) {
      group.delayByWall(entry);
    } else {
      group.ready(entry);
    }
  }

  private void count(TaskEntry entry) {
    entry.loaded = true;
    loaded++;
  }

  /// An entry is handed out, or ends.
  public void left(TaskEntry entry) {
    if (entry.loaded) {
      entry.loaded = false;
      loaded--;
      if (blocked != null && loaded <= MOST_LOADED / 2) {
        group.center.toLoad(this);
      }
    }
  }

  /// Recovery has ended: entries that were loaded before count again.
  void start() {
    for (TaskEntry each : group.entries.values()) {
      if (each.known
          && each.chain == null
          && each.attempts == 0
          && each.runAtMillis != 0
          && (each.phase == TaskEntry.Phase.READY || each.phase == TaskEntry.Phase.DELAYED)) {
        count(each);
      }
    }
  }

  // ---- the whole group ----

  /// None waits any more.
  void clear() {
    for (QueueSegment each : group.queue.segments) {
      remove(each);
    }
    blocked = null;
  }

  /// The segment is about to go, or its tasks are.
  void remove(QueueSegment segment) {
    DelayedSegment delayed = of(segment);
    if (delayed != null) {
      group.delayed -= delayed.waiting;
      group.center.clock.disarmWall(delayed);
      segment.setDelayed(group.slot, null);
      List<DelayedSegment> now = blocked;
      if (now != null) {
        now.remove(delayed);
      }
    }
  }

  /// Another group gets what waits.
  void copyTo(DelayedTasks to) {
    for (QueueSegment each : group.queue.segments) {
      DelayedSegment delayed = of(each);
      if (delayed != null) {
        to.put(each, delayed.from, (BitSet) delayed.taken.clone(), delayed.waiting, delayed.next);
      }
    }
  }

  /// Makes what was written or copied.
  public void put(QueueSegment segment, long from, BitSet taken, int waiting, int next) {
    DelayedSegment delayed = new DelayedSegment(this, segment, from, taken);
    delayed.waiting = waiting;
    delayed.next = next;
    group.delayed += waiting;
    segment.setDelayed(group.slot, delayed);
    delayed.arm();
  }
}
