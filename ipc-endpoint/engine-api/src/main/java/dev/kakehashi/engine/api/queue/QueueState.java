package dev.kakehashi.engine.api.queue;

/// A queue and one of its groups, exact as of one moment.
///
/// @param oldestReadyMillis age of the oldest ready task; 0: there is none
/// @param oldestLeaseMillis age of the oldest lease; 0: there is none
/// @param waiting consumers that wait
/// @param enforcedRate rate that is kept now, lower than the queue's where a target asked for it; negative: without limit
/// @param missedWakeups times that the watchdog has found a ready task beside a waiting consumer: must stay 0
/// @param fileBytes of the queue, for all groups
public record QueueState(
    long queueId,
    long groupId,
    TaskCounts tasks,
    long oldestReadyMillis,
    long oldestLeaseMillis,
    int waiting,
    double enforcedRate,
    long missedWakeups,
    long fileBytes) {
  /// Numbers of tasks: `enqueued = ready + delayed + leased + done + dead + deadLetters + canceled`.
  ///
  /// @param enqueued tasks that have come to be in the queue since the group was made, with those that were there then
  /// @param ready tasks that could be handed out now but for limits; with those behind a task of the same key
  /// @param delayed tasks whose time has not come, first or after a failure
  /// @param dead those that stay in the queue
  /// @param deadLetters those that went to the queue for dead letters
  /// @param canceled with those that were purged or moved away
  public record TaskCounts(
      long enqueued,
      long ready,
      long delayed,
      long leased,
      long done,
      long dead,
      long deadLetters,
      long canceled) {
    public static final TaskCounts NONE = new TaskCounts(0, 0, 0, 0, 0, 0, 0, 0);

    public TaskCounts plus(TaskCounts other) {
      return new TaskCounts(
          enqueued + other.enqueued,
          ready + other.ready,
          delayed + other.delayed,
          leased + other.leased,
          done + other.done,
          dead + other.dead,
          deadLetters + other.deadLetters,
          canceled + other.canceled);
    }

    /// The others together, which `enqueued` has to be.
    public long sum() {
      return ready + delayed + leased + done + dead + deadLetters + canceled;
    }
  }
}
