package dev.kakehashi.queue.record;

/// One change of queues, as the log has it. Changes say what is to be, not what is to be done to it; they are applied in the order of their
/// records, each once.
public sealed interface QueueOp {
  long queueId();

  /// A new task, at the end of its queue.
  final class Enqueue implements QueueOp {
    public final long queueId;

    /// As [TaskRecord] says; without its position.
    public final byte[] record;

    public long position = -1;

    public Enqueue(long queueId, byte[] record) {
      this.queueId = queueId;
      this.record = record;
    }

    @Override
    public long queueId() {
      return queueId;
    }
  }

  /// A change of one task. It has no effect where the queue has no such group.
  sealed interface OfTask extends QueueOp {
    /// Negative: all groups.
    long groupId();

    long position();

    /// Whether the task is over with it, for its group.
    default boolean ends() {
      return false;
    }

    void applyTo(GroupTasks group);
  }

  /// It was handed out for the n-th time.
  record Claimed(long queueId, long groupId, long position, int attempts) implements OfTask {
    @Override
    public void applyTo(GroupTasks group) {
      group.claimed(position, attempts);
    }
  }

  record Done(long queueId, long groupId, long position) implements OfTask {
    @Override
    public boolean ends() {
      return true;
    }

    @Override
    public void applyTo(GroupTasks group) {
      group.done(position);
    }
  }

  /// It is to be handed out again.
  ///
  /// @param waitMillis from when the change is applied on
  /// @param runAtMillis the same by the wall clock, for another run
  record Failed(
      long queueId,
      long groupId,
      long position,
      int attempts,
      long waitMillis,
      long runAtMillis,
      String error)
      implements OfTask {
    @Override
    public void applyTo(GroupTasks group) {
      group.failed(this);
    }
  }

  /// The last attempt does not count.
  record Released(long queueId, long groupId, long position, int attempts) implements OfTask {
    @Override
    public void applyTo(GroupTasks group) {
      group.released(position, attempts);
    }
  }

  record Dead(long queueId, long groupId, long position, String error) implements OfTask {
    @Override
    public boolean ends() {
      return true;
    }

    @Override
    public void applyTo(GroupTasks group) {
      group.died(position, error);
    }
  }

  /// It was canceled, or moved away.
  ///
  /// @param groupId negative: all groups
  /// @param isDeadLetter whether it is dead, and goes to the queue for dead letters
  record Gone(long queueId, long groupId, long position, boolean isDeadLetter) implements OfTask {
    @Override
    public boolean ends() {
      return true;
    }

    @Override
    public void applyTo(GroupTasks group) {
      group.gone(position, isDeadLetter);
    }
  }

  record CreateQueue(long queueId) implements QueueOp {}

  record DropQueue(long queueId) implements QueueOp {}

  record CreateGroup(long queueId, long groupId, boolean first) implements QueueOp {}

  record DropGroup(long queueId, long groupId) implements QueueOp {}

  /// Tasks that are applied before it are gone.
  ///
  /// @param sparedGroups with `sparedPositions`: those that are not
  @SuppressWarnings("ArrayRecordComponent")
  record Purge(long queueId, boolean deadOnly, long[] sparedGroups, long[] sparedPositions)
      implements QueueOp {}

  /// A schedule has made its task, or was seen first.
  ///
  /// @param millis the time that it was made for
  record Fired(long queueId, String schedule, long millis) implements QueueOp {}
}
