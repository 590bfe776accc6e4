package dev.kakehashi.engine.api.queue;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Changes of one transaction to queues. They ride in the transaction's own record of the log, so they are there with its rows or not at
/// all.
///
/// Life: changes, marks and roll backs; then [#prepareCommit()], [#encode], [#place], and [#ended]. Thread-safe before [#prepareCommit()],
/// because tasks of one statement run on several threads; confined to the committing thread from then on.
public interface QueueChanges {
  // ---- tasks ----

  /// Makes a task.
  ///
  /// @return the new task's number; of a unique key that is taken, the number of the task that has it
  /// @throws dev.kakehashi.engine.api.error.EngineException SERIALIZATION_FAILURE (the unique key belongs to a transaction that has not
  ///     ended), LIMIT_EXCEEDED, INVALID_PARAMETER_VALUE, UNDEFINED_OBJECT (the queue is gone)
  long enqueue(long queueId, NewTask task);

  /// The task is done when this commits.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST, now or from [#prepareCommit()]
  void complete(LeaseToken token);

  /// The attempt has failed: the task is handed out again, later, or is dead.
  ///
  /// @param error at most 8192 characters are kept
  /// @param retryMillis wait before the next attempt; negative: by the queue's backoff
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST
  void fail(LeaseToken token, String error, long retryMillis);

  /// The attempt has failed, and no other would do better: the task is dead, or goes to the queue for dead letters.
  ///
  /// @param error at most 8192 characters are kept
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST
  void failForGood(LeaseToken token, String error);

  /// Refuses a URL that tasks may not be pushed to. It changes nothing.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INSUFFICIENT_PRIVILEGE, INVALID_PARAMETER_VALUE
  void requirePushTarget(String url);

  /// Gives a task back, as if it had never been handed out: the attempt does not count.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST
  void release(LeaseToken token);

  /// A task that is not lent is taken out of its queue, in all groups.
  ///
  /// @return false: there is none, or it is lent
  boolean cancel(long queueId, long taskId);

  // ---- queues; the catalogue's change is in the same transaction ----

  void createQueue(long queueId);

  /// Its tasks are gone, its leases lost.
  void dropQueue(long queueId);

  /// @param first whether it begins with the oldest task that is there; else with the next one that commits after it
  void createGroup(long queueId, long groupId, boolean first);

  void dropGroup(long queueId, long groupId);

  /// Tasks that committed before this one are gone, but for those that are lent.
  ///
  /// @param deadOnly only dead ones
  void purge(long queueId, boolean deadOnly);

  /// Moves tasks that are not lent to the end of another queue.
  ///
  /// @param dead the dead ones; else those that are ready or delayed
  /// @param max at most that many, the oldest first
  /// @param error only those whose last error is this; empty: that have none; null: all
  /// @param rate tasks per second that become ready there, one after the other from now on; negative: all at once
  /// @return how many
  /// @throws dev.kakehashi.engine.api.error.EngineException LIMIT_EXCEEDED if there are more than [#MOST_MOVED], and `max` allows it
  long move(
      long queueId, long toQueueId, boolean dead, long max, @Nullable String error, double rate);

  /// Tasks that one call moves at most.
  int MOST_MOVED = 100_000;

  // ---- savepoints ----

  /// A point to roll back to; later ones are greater. 0: nothing was done yet.
  long mark();

  void rollbackTo(long mark);

  default boolean isEmpty() {
    return mark() == 0;
  }

  // ---- the end ----

  /// Holds the leases that it ends, so that they do not pass meanwhile. Before the commit, or the preparation; the last call that may
  /// refuse.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST, OUT_OF_MEMORY; then it has to be [#ended] by false
  void prepareCommit();

  /// Length of [#encode], after [#prepareCommit()].
  int encodedBytes();

  /// Writes the changes, with room for the places that [#place] writes.
  void encode(byte[] into, int offset);

  /// The transaction has its place in the order of commits: positions are taken, and written into its record. Called under the lock that
  /// orders commits, in their order: it takes nanoseconds and never fails.
  ///
  /// @param bytes what [#encode] wrote, at `offset`
  /// @param record number of the record: when [QueueSystem#durable] has reached it, the changes take effect for consumers
  void place(byte[] bytes, int offset, long record);

  /// The transaction has ended. After a commit this is only the end of this object; after a roll back what it held is given back.
  void ended(boolean committed);

  /// Writes changes as a record of their own, in the order of commits. Called with no lock that [#place], [QueueSystem#durable] or
  /// [QueueSystem#define] takes.
  @FunctionalInterface
  interface Writer {
    /// Calls `prepareCommit` to `ended`; `done` gets null or the failure, once, when the record is durable, perhaps on the thread that
    /// flushes.
    void write(QueueChanges changes, Consumer<@Nullable Throwable> done);
  }
}
