package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.Deadline;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/// One queue: its segments and groups. Guarded by the lock of the queue system, but for what says otherwise.
public final class QueueCore {
  public final QueueCenter center;
  public final long queueId;

  /// Oldest first; the last one may grow.
  public final List<QueueSegment> segments = new ArrayList<>(1);

  public final List<GroupCore> groups = new ArrayList<>(1);

  public final UniqueTaskKeys uniqueKeys = new UniqueTaskKeys(this);

  /// Times of the last task of each schedule, milliseconds since 1970; made when they are needed.
  public @Nullable Map<String, Long> fired;

  /// Its schedules, each with the time of its next task by the wall clock; made when they are needed.
  public @Nullable Map<String, Deadline> clocks;

  /// Position that the next transaction gets; guarded by the lock that orders commits.
  public long nextToGive;

  /// Position after the last one that is applied.
  public long next;

  /// Position after the last one that was promised to a consumer.
  private long promised;

  /// Transactions that have not ended, and have added tasks.
  public final AtomicInteger users = new AtomicInteger();

  /// Transaction that drops it; null: none does.
  public @Nullable ChangeOwner droppedBy;

  public boolean dropped;
  public boolean createdInThisRun;
  private volatile @Nullable QueueDefinition definition;

  public QueueCore(QueueCenter center, long queueId) {
    this.center = center;
    this.queueId = queueId;
  }

  // ---- definition; any thread ----

  public @Nullable QueueDefinition definition() {
    return definition;
  }

  public void define(@Nullable QueueDefinition to) {
    definition = to;
  }

  QueueOptions options() {
    QueueDefinition now = definition;
    return now == null ? QueueOptions.DEFAULT : now.options();
  }

  public boolean isPaused() {
    QueueDefinition now = definition;
    return dropped || now == null || now.options().paused();
  }

  public double weight(@Nullable String fair) {
    QueueDefinition now = definition;
    Double weight = fair == null || now == null ? null : now.weights().get(fair);
    return weight == null ? 1 : weight;
  }

  // ---- groups ----

  @Nullable GroupCore group(long groupId) {
    for (GroupCore each : groups) {
      if (each.groupId == groupId) {
        return each;
      }
    }
    return null;
  }

  GroupCore addGroup(long groupId) {
    int slot = 0;
    while (isUsed(slot)) {
      slot++;
    }
    GroupCore group = new GroupCore(this, groupId, slot);
    groups.add(group);
    for (QueueSegment each : segments) {
      each.openSlot(slot);
      each.open[slot] = 0;
    }
    return group;
  }

  private boolean isUsed(int slot) {
    for (GroupCore each : groups) {
      if (each.slot == slot) {
        return true;
      }
    }
    return false;
  }

  void created() {
    createdInThisRun = center.isStarted();
    if (groups.isEmpty()) {
      addGroup(QueueDefinition.NO_GROUP);
    }
  }

  /// The first group takes the place of the one without a name: that one gets nothing more, and what it has can still be received. With
  /// `first` the new one has the open tasks of the group that has most of them; then nothing is left for the one without a name.
  void createGroup(long groupId, boolean first) {
    if (group(groupId) != null) {
      return;
    }
    GroupCore behind = null;
    for (GroupCore each : groups) {
      if (each.accepting && (behind == null || open(each) > open(behind))) {
        behind = each;
      }
    }
    GroupCore group = addGroup(groupId);
    if (first && behind != null) {
      GroupCopy.copy(behind, group);
    }
    GroupCore plain = group(QueueDefinition.NO_GROUP);
    if (plain != null) {
      if ((first && plain.accepting) || open(plain) == 0) {
        removeGroup(plain);
      }
      plain.accepting = false;
    }
    center.toMatch(group);
  }

  private static long open(GroupCore group) {
    return group.enqueued - group.done - group.canceled;
  }

  void dropGroup(long groupId) {
    GroupCore group = group(groupId);
    if (group == null) {
      return;
    }
    removeGroup(group);
    for (GroupCore each : groups) {
      if (each.groupId != QueueDefinition.NO_GROUP) {
        return;
      }
    }
    GroupCore plain = group(QueueDefinition.NO_GROUP);
    if (plain == null) {
      plain = addGroup(QueueDefinition.NO_GROUP);
    }
    plain.accepting = true;
  }

  private void removeGroup(GroupCore group) {
    GroupEnd.end(group);
    groups.remove(group);
    purged(group);
    uniqueKeys.manyEnded();
  }

  void drop() {
    dropped = true;
    Map<String, Deadline> schedules = clocks;
    if (schedules != null) {
      schedules.values().forEach(center.clock::disarmWall);
      clocks = null;
    }
    for (GroupCore each : List.copyOf(groups)) {
      GroupEnd.end(each);
    }
    for (QueueSegment each : segments) {
      center.chores.obsolete(each);
    }
    segments.clear();
    uniqueKeys.clear();
  }

  // ---- tasks ----

  /// A task has its place and is not durable: a consumer that waits gets it as soon as it is, if nothing is before it.
  public boolean promise(QueueOp.Enqueue enqueue) {
    if (dropped || groups.size() != 1 || enqueue.position != Math.max(next, promised)) {
      return false;
    }
    GroupCore group = groups.getFirst();
    boolean done = group.accepting && group.consumers.promise(enqueue);
    if (done) {
      promised = enqueue.position + 1;
    }
    return done;
  }

  /// Whether the end of a task may let another one start.
  public boolean endsLetOthersStart() {
    QueueOptions now = options();
    return now.orderByKey()
        || now.keyLimits().maxConcurrent() > 0
        || now.limits().maxConcurrent() > 0;
  }

  public boolean hasWaiting() {
    for (GroupCore each : groups) {
      if (each.consumers.areWaiting()) {
        return true;
      }
    }
    return false;
  }

  void append(byte[] bytes, long position) {
    if (dropped || position < next) {
      return;
    }
    TaskRecord record = new TaskRecord(ByteBuffer.wrap(bytes), 0);
    QueueSegment segment = segments.isEmpty() ? null : segments.getLast();
    if (segment == null || segment.sealed) {
      segment = new QueueSegment(this, position);
      segments.add(segment);
    } else if (segment.count == 0 && segment.base != position) {
      QueueSegment moved = segment.recycled(position);
      segments.set(segments.size() - 1, moved);
      segment = moved;
    }
    // A task with a key holds back those behind it, so groups know it from the beginning.
    int second =
        record.runAtMillis == 0 || record.key() != null
            ? 0
            : DelayedSegment.second(record.runAtMillis);
    segment.append(bytes, position, record.taskId, second);
    next = position + 1;
    for (GroupCore each : groups) {
      if (each.accepting) {
        segment.openSlot(each.slot);
        segment.open[each.slot]++;
        if (second == 0) {
          each.added(record, position);
        } else {
          each.enqueued++;
          each.delays.added(segment, position, second);
        }
      }
    }
    uniqueKeys.added(record, position);
    if (segment.isFull()) {
      segment.sealed = true;
      center.chores.sealed(segment);
      groups.forEach(each -> each.consumers.warnIfUnread());
    }
  }

  private QueueSegment segment(long position) {
    QueueSegment segment = segmentIfThere(position);
    if (segment == null) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "queue " + queueId + " has no segment with the open task " + position);
    }
    return segment;
  }

  public @Nullable QueueSegment segmentIfThere(long position) {
    int low = 0;
    int high = segments.size() - 1;
    if (high < 0) {
      return null;
    }
    if (segments.get(high).base <= position) {
      low = high;
    }
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (segments.get(middle).base <= position) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    QueueSegment segment = segments.get(low);
    return position >= segment.base && position < segment.base + segment.count ? segment : null;
  }

  public TaskRecord read(long position) {
    TaskRecord record = readIfThere(position);
    if (record == null) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED, "queue " + queueId + " lacks the open task " + position);
    }
    return record;
  }

  @Nullable TaskRecord readIfThere(long position) {
    QueueSegment segment = segmentIfThere(position);
    return segment == null ? null : read(segment, position);
  }

  public @Nullable TaskRecord read(QueueSegment segment, long position) {
    int offset =
        segment
            .index(center.files)
            .getInt((int) (position - segment.base) * TaskSegment.ENTRY + 16);
    if (offset < 0) {
      return null;
    }
    ByteBuffer data = segment.data(center.files);
    TaskRecord record =
        segment.inMemory() ? new TaskRecord(data, offset) : TaskRecord.checked(data, offset);
    if (record.position != position) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "queue " + queueId + " has task " + record.position + " in the place of " + position);
    }
    return record;
  }

  /// Position after one in its chain; it is not the last.
  long link(long position) {
    QueueSegment segment = segment(position);
    long link =
        segment.index(center.files).getLong((int) (position - segment.base) * TaskSegment.ENTRY);
    if (link <= position || link >= next) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "queue " + queueId + " has the link " + link + " after task " + position);
    }
    return link;
  }

  void setLink(long position, long to) {
    QueueSegment segment = segment(position);
    segment.index(center.files).putLong((int) (position - segment.base) * TaskSegment.ENTRY, to);
    if (segment.onDisk) {
      center.chores.changed(segment);
    }
  }

  // ---- the end of tasks ----

  /// A group is through with a task.
  void closed(long position, int slot) {
    QueueSegment segment = segment(position);
    segment.open[slot]--;
    freeIfDone(segment);
  }

  /// A group has no tasks but those with entries.
  void purged(GroupCore group) {
    for (QueueSegment each : segments) {
      each.openSlot(group.slot);
      each.open[group.slot] = 0;
    }
    if (groups.contains(group)) {
      for (TaskEntry each : group.entries.values()) {
        QueueSegment segment = segment(each.position);
        segment.open[group.slot]++;
      }
    }
    for (QueueSegment each : List.copyOf(segments)) {
      freeIfDone(each);
    }
  }

  private void freeIfDone(QueueSegment segment) {
    if (!segment.isDone() || segment.count == 0) {
      return;
    }
    for (GroupCore each : groups) {
      each.delays.remove(segment);
    }
    center.chores.obsolete(segment);
    if (segment.sealed) {
      segments.remove(segment);
    } else {
      segments.set(segments.size() - 1, segment.recycled(next));
    }
  }

  void purge(QueueOp.Purge op) {
    for (GroupCore each : List.copyOf(groups)) {
      LongHashSet spared = new LongHashSet();
      for (int at = 0; at < op.sparedGroups().length; at++) {
        if (op.sparedGroups()[at] == each.groupId) {
          spared.add(op.sparedPositions()[at]);
        }
      }
      if (op.deadOnly()) {
        GroupEnd.purgeDead(each);
      } else {
        GroupEnd.purge(each, spared);
      }
    }
    if (!op.deadOnly()) {
      uniqueKeys.manyEnded();
    }
  }

  public void fired(String schedule, long millis) {
    Map<String, Long> now = fired;
    if (now == null) {
      now = new HashMap<>(4);
      fired = now;
    }
    if (millis >= 0) {
      now.put(schedule, millis);
    } else {
      now.remove(schedule);
    }
  }
}
