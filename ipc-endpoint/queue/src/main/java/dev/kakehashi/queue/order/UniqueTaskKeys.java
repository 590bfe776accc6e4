package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.Deadline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The unique keys of one queue: which task has which. Guarded by the lock of the queue system.
///
/// A key without a window is its task's as long as that is open in any group: ready, delayed or lent. Done, canceled, purged, moved away or
/// dead, it has the key no more. A key with a window is kept until then, whatever becomes of the task. A transaction that ends the task may
/// make another one of the key; others wait for that transaction, because only its end says which number is theirs.
public final class UniqueTaskKeys {
  private final QueueCore queue;
  private Map<String, UniqueTask> tasks = Map.of();

  /// Transactions that end many tasks of the queue, until their changes are applied.
  private final List<QueueSweep> sweeps = new ArrayList<>(0);

  UniqueTaskKeys(QueueCore queue) {
    this.queue = queue;
  }

  // ---- who has a key ----

  @Nullable UniqueTask get(String key) {
    UniqueTask task = tasks.get(key);
    if (task != null && task.owner == null && !hasTime(task)) {
      forget(task);
      return null;
    }
    return task;
  }

  private boolean hasTime(UniqueTask task) {
    return task.untilMillis == 0 || task.untilMillis > queue.center.clock.wallMillis();
  }

  public void put(UniqueTask task) {
    if (tasks.isEmpty()) {
      tasks = new HashMap<>();
    }
    UniqueTask before = tasks.put(task.key, task);
    if (before != null) {
      queue.center.clock.disarmWall(before);
    }
    if (task.owner == null && task.untilMillis != 0) {
      queue.center.clock.armWall(task, task.untilMillis);
    }
  }

  void forget(UniqueTask task) {
    queue.center.clock.disarmWall(task);
    if (tasks.remove(task.key, task) && tasks.isEmpty()) {
      tasks = Map.of();
    }
  }

  void clear() {
    tasks.values().forEach(queue.center.clock::disarmWall);
    tasks = Map.of();
  }

  /// Keys of committed tasks, also where a transaction that has not ended has the key for now.
  public List<UniqueTask> committed() {
    List<UniqueTask> result = new ArrayList<>(tasks.size());
    for (UniqueTask each : tasks.values()) {
      UniqueTask task = each;
      while (task != null && task.owner != null) {
        task = task.before;
      }
      if (task != null && (task == each || stands(task))) {
        result.add(task);
      }
    }
    return result;
  }

  // ---- transactions ----

  /// The task that has a key for a transaction; null: it may make one.
  ///
  /// @throws EngineException SERIALIZATION_FAILURE if the end of another transaction decides
  public @Nullable UniqueTask holder(String key, ChangeOwner by) {
    UniqueTask task = get(key);
    if (task == null) {
      return null;
    }
    if (task.owner != null) {
      if (task.owner.equals(by)) {
        return by.sweepsLater(task) ? null : task;
      }
      throw conflict("makes a task with the same unique key");
    }
    if (task.untilMillis != 0) {
      return task;
    }
    return switch (fate(task, by)) {
      case STAYS -> task;
      case ENDS -> null;
      case OPEN -> throw conflict("ends the task with the same unique key");
    };
  }

  static EngineException conflict(String what) {
    return new EngineException(
            ErrorCode.SERIALIZATION_FAILURE, "a transaction that has not ended " + what)
        .withHint("The transaction might succeed if retried after the end of the other.");
  }

  /// Gives a key to a task that a transaction makes; [#holder] has said that it may.
  public UniqueTask claim(String key, long taskId, long untilMillis, ChangeOwner by) {
    UniqueTask task = new UniqueTask(queue, key, taskId, -1, untilMillis, by, get(key));
    put(task);
    return task;
  }

  /// The transaction, or a part of it, is rolled back.
  public void undo(UniqueTask task) {
    if (tasks.get(task.key) != task) {
      return;
    }
    UniqueTask before = task.before;
    if (before == null || !stands(before)) {
      forget(task);
    } else {
      put(before);
    }
  }

  /// Whether it still has the key, though others may have ended its task while a transaction had it.
  private boolean stands(UniqueTask task) {
    return task.owner != null || (task.untilMillis == 0 ? isOpen(task) : hasTime(task));
  }

  /// Checks the assumption of a transaction: tasks whose keys it has given to others end with it.
  ///
  /// @throws EngineException SERIALIZATION_FAILURE
  public void requireEnd(UniqueTask of) {
    UniqueTask before = of.before;
    if (before != null
        && before.owner == null
        && before.untilMillis == 0
        && of.owner != null
        && fate(before, of.owner) != Fate.ENDS) {
      throw new EngineException(
              ErrorCode.SERIALIZATION_FAILURE,
              "the task with the same unique key was handed out meanwhile")
          .withHint("The transaction might succeed if retried.");
    }
  }

  public void add(QueueSweep sweep) {
    sweeps.add(sweep);
  }

  public void remove(QueueSweep sweep) {
    sweeps.remove(sweep);
  }

  private enum Fate {
    /// No transaction ends it.
    STAYS,
    /// It is over, or is when the transaction commits.
    ENDS,
    /// Others decide.
    OPEN
  }

  private Fate fate(UniqueTask task, ChangeOwner by) {
    long position = position(task);
    TaskRecord record = position < 0 ? null : queue.readIfThere(position);
    if (record == null) {
      return Fate.ENDS;
    }
    Fate fate = Fate.ENDS;
    for (GroupCore group : queue.groups) {
      if (!group.isOpen(record) || ends(group, position, by)) {
        continue;
      }
      if (!ends(group, position, null)) {
        return Fate.STAYS;
      }
      fate = Fate.OPEN;
    }
    return fate;
  }

  /// Whether a transaction ends a task in a group.
  ///
  /// @param by null: any, or a record of the queues' own
  private boolean ends(GroupCore group, long position, @Nullable ChangeOwner by) {
    TaskEntry entry = group.entries.get(position);
    if (entry != null) {
      if (by == null && entry.phase == Phase.HELD && entry.heldBy == null) {
        return true;
      }
      for (TaskEnd each : entry.ends) {
        if ((by == null || each.owner().equals(by)) && each.stands(entry)) {
          return true;
        }
      }
    }
    for (QueueSweep each : sweeps) {
      if ((by == null || each.owner.equals(by)) && each.ends(group, position)) {
        return true;
      }
    }
    return false;
  }

  // ---- tasks that are moved ----

  /// Whether a task of another queue may come: its key is free, or it has it already.
  ///
  /// @param coming numbers of tasks that come with it, by key; this one is added
  /// @throws EngineException SERIALIZATION_FAILURE if the end of another transaction decides
  public boolean takes(TaskRecord record, ChangeOwner by, Map<String, Long> coming) {
    String key = record.uniqueKey();
    if (key == null || isPast(record)) {
      return true;
    }
    UniqueTask task = holder(key, by);
    if (task != null) {
      return task.taskId == record.taskId;
    }
    Long other = coming.putIfAbsent(key, record.taskId);
    return other == null || other == record.taskId;
  }

  /// Gives a task that comes its key; null: it has none, or the same task has it already.
  public @Nullable UniqueTask claim(TaskRecord record, ChangeOwner by) {
    String key = record.uniqueKey();
    if (key == null || isPast(record) || holder(key, by) != null) {
      return null;
    }
    return claim(key, record.taskId, record.uniqueUntilMillis(), by);
  }

  private boolean isPast(TaskRecord record) {
    long until = record.uniqueUntilMillis();
    return until != 0 && until <= queue.center.clock.wallMillis();
  }

  // ---- changes of the log ----

  /// A task is there.
  void added(TaskRecord record, long position) {
    String key = record.holdsUniqueKey() ? record.uniqueKey() : null;
    if (key != null) {
      put(new UniqueTask(queue, key, record.taskId, position, record.uniqueUntilMillis()));
    }
  }

  /// A task with a unique key is over in one group.
  void ended(long position) {
    TaskRecord record = queue.readIfThere(position);
    String key = record == null || !record.holdsUniqueKey() ? null : record.uniqueKey();
    UniqueTask task = key == null ? null : tasks.get(key);
    if (record == null
        || task == null
        || task.owner != null
        || task.untilMillis != 0
        || task.taskId != record.taskId
        || (task.position >= 0 && task.position != position)
        || isOpen(record)) {
      return;
    }
    forget(task);
  }

  /// Many tasks are over.
  void manyEnded() {
    for (UniqueTask each : List.copyOf(tasks.values())) {
      if (each.owner == null && !stands(each)) {
        forget(each);
      }
    }
  }

  private boolean isOpen(UniqueTask task) {
    long position = position(task);
    TaskRecord record = position < 0 ? null : queue.readIfThere(position);
    return record != null && isOpen(record);
  }

  private boolean isOpen(TaskRecord record) {
    for (GroupCore each : queue.groups) {
      if (each.isOpen(record)) {
        return true;
      }
    }
    return false;
  }

  private long position(UniqueTask task) {
    if (task.position < 0) {
      task.position = TaskSearch.find(queue, task.taskId);
    }
    return task.position;
  }

  /// A transaction that has not committed ends a task with a unique key. Immutable.
  ///
  /// @param token the lease with which it does so, and without which it cannot; null: it holds the task
  public record TaskEnd(ChangeOwner owner, @Nullable LeaseToken token) {
    boolean stands(TaskEntry entry) {
      return token == null || entry.isLeasedBy(token);
    }
  }

  /// A transaction that has not committed ends many tasks of a queue: PURGE, or the end of a group. Guarded by the lock of the queue
  /// system.
  public static final class QueueSweep {
    final ChangeOwner owner;

    /// Negative: all groups, but what is lent or held.
    private final long groupId;

    /// Written operation, once the transaction is prepared.
    public QueueOp.@Nullable Purge written;

    public QueueSweep(ChangeOwner owner, long groupId) {
      this.owner = owner;
      this.groupId = groupId;
    }

    /// Whether it ends a task that is open in a group.
    boolean ends(GroupCore group, long position) {
      if (groupId >= 0) {
        return groupId == group.groupId;
      }
      QueueOp.Purge purge = written;
      if (purge == null) {
        TaskEntry entry = group.entries.get(position);
        return entry == null || (entry.phase != Phase.LEASED && entry.phase != Phase.HELD);
      }
      for (int at = 0; at < purge.sparedGroups().length; at++) {
        if (purge.sparedGroups()[at] == group.groupId && purge.sparedPositions()[at] == position) {
          return false;
        }
      }
      return true;
    }
  }

  /// Holder of a unique key of a queue. Guarded by the lock of the queue system.
  ///
  /// Its deadline: the end of the window, by the wall clock.
  public static final class UniqueTask extends Deadline {
    public final QueueCore queue;
    public final String key;
    public final long taskId;

    /// Position of the task; -1: it has none yet, or was not looked for since the start.
    long position;

    /// Milliseconds since 1970; 0: as long as the task is open.
    public final long untilMillis;

    /// The transaction that has not committed; null: it has.
    final @Nullable ChangeOwner owner;

    /// Holder of the key if the owner rolls back; null: none.
    final @Nullable UniqueTask before;

    public UniqueTask(QueueCore queue, String key, long taskId, long position, long untilMillis) {
      this(queue, key, taskId, position, untilMillis, null, null);
    }

    public UniqueTask(
        QueueCore queue,
        String key,
        long taskId,
        long position,
        long untilMillis,
        @Nullable ChangeOwner owner,
        @Nullable UniqueTask before) {
      this.queue = queue;
      this.key = key;
      this.taskId = taskId;
      this.position = position;
      this.untilMillis = untilMillis;
      this.owner = owner;
      this.before = before;
    }

    @Override
    public void reached() {
      queue.uniqueKeys.forget(this);
    }
  }
}
