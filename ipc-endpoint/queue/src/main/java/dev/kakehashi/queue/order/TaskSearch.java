package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.agrona.collections.LongArrayList;
import org.jspecify.annotations.Nullable;

/// Finds tasks of a queue. Guarded by the lock of the queue system.
public final class TaskSearch {
  /// Most bytes of the tasks of one MOVE.
  private static final long MOST_BYTES = 256L << 20;

  private TaskSearch() {}

  /// Position of a task; -1: there is none. Segments whose numbers do not include it are not looked at.
  ///
  /// A task that was moved within its queue has several: the last one is meant.
  public static long find(QueueCore queue, long taskId) {
    long found = -1;
    for (QueueSegment segment : queue.segments) {
      if (taskId < segment.smallestId || taskId > segment.greatestId) {
        continue;
      }
      ByteBuffer index = segment.index(queue.center.files);
      for (int at = 0; at < segment.count; at++) {
        if (index.getLong(at * TaskSegment.ENTRY + 8) == taskId
            && index.getInt(at * TaskSegment.ENTRY + 16) >= 0) {
          found = segment.base + at;
        }
      }
    }
    return found;
  }

  /// Entries of the oldest tasks that could be moved: not lent, not held by anybody.
  ///
  /// @param error their last one, empty: none; null: whatever it is
  /// @param taken which ones the other queue takes; what it throws is thrown
  /// @throws EngineException LIMIT_EXCEEDED if they are too many for one transaction's memory
  public static List<TaskEntry> movable(
      QueueCore queue,
      boolean dead,
      long most,
      @Nullable String error,
      Predicate<TaskRecord> taken) {
    long max = Math.min(most, QueueChanges.MOST_MOVED + 1L);
    List<TaskEntry> result = new ArrayList<>();
    try {
      collect(queue, dead, max, error, taken, result);
    } catch (EngineException e) {
      giveBack(result);
      throw e;
    }
    long bytes = 0;
    for (TaskEntry each : result) {
      bytes += queue.read(each.position).length;
    }
    if (result.size() > QueueChanges.MOST_MOVED || bytes > MOST_BYTES) {
      giveBack(result);
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "one MOVE takes at most %d tasks and %d MB"
                  .formatted(QueueChanges.MOST_MOVED, MOST_BYTES >> 20))
          .withHint("Use MOVE with a count, several times.");
    }
    return result;
  }

  private static void giveBack(List<TaskEntry> found) {
    for (TaskEntry each : found) {
      if (each.phase == Phase.READY) {
        each.group.ready(each); // Without an entry, where it had none.
      }
    }
  }

  private static void collect(
      QueueCore queue,
      boolean dead,
      long max,
      @Nullable String error,
      Predicate<TaskRecord> taken,
      List<TaskEntry> result) {
    for (GroupCore group : List.copyOf(queue.groups)) {
      if (dead) {
        group.entries.values().stream()
            .filter(each -> each.phase == Phase.DEAD)
            .filter(each -> error == null || error.equals(error(each, queue.read(each.position))))
            .sorted((left, right) -> Long.compare(left.position, right.position))
            .filter(each -> taken.test(queue.read(each.position)))
            .limit(max - result.size())
            .forEach(result::add);
      } else {
        ready(group, max, error, taken, result);
      }
    }
  }

  private static String error(@Nullable TaskEntry entry, TaskRecord record) {
    String last = entry == null || entry.lastError == null ? record.error() : entry.lastError;
    return last == null ? "" : last;
  }

  private static void ready(
      GroupCore group,
      long max,
      @Nullable String error,
      Predicate<TaskRecord> taken,
      List<TaskEntry> result) {
    QueueCore queue = group.queue;
    for (QueueSegment segment : List.copyOf(queue.segments)) {
      for (long position = segment.base;
          position < segment.base + segment.count && result.size() < max;
          position++) {
        TaskRecord record = queue.read(segment, position);
        if (record == null
            || !group.isOpen(record)
            || (error != null && !error.equals(error(group.entries.get(position), record)))) {
          continue;
        }
        TaskEntry known = group.entries.get(position);
        boolean movable =
            known == null || known.phase == Phase.READY || known.phase == Phase.DELAYED;
        if (!movable || !taken.test(record)) {
          continue;
        }
        TaskEntry entry = group.entry(position);
        if (entry != null && (entry.phase == Phase.READY || entry.phase == Phase.DELAYED)) {
          result.add(entry);
        }
      }
    }
  }

  /// A purge with the tasks that are lent or held now.
  public static QueueOp.Purge spared(QueueCenter center, QueueOp.Purge purge) {
    QueueCore queue = center.queues.get(purge.queueId());
    LongArrayList groups = new LongArrayList();
    LongArrayList positions = new LongArrayList();
    if (queue != null && !purge.deadOnly()) {
      for (GroupCore group : queue.groups) {
        for (TaskEntry each : group.entries.values()) {
          if (each.phase == Phase.LEASED || each.phase == Phase.HELD) {
            groups.addLong(group.groupId);
            positions.addLong(each.position);
          }
        }
      }
    }
    return new QueueOp.Purge(
        purge.queueId(), purge.deadOnly(), groups.toLongArray(), positions.toLongArray());
  }
}
