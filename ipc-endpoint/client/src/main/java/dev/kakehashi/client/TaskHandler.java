package dev.kakehashi.client;

/// Work of a [Consumer] on a task.
@FunctionalInterface
public interface TaskHandler {
  /// Works on a task. When it returns the task is completed in the transaction, which is committed: what it has changed there takes effect
  /// exactly once.
  ///
  /// @param transaction open, in a session of the calling thread's own; the consumer ends it
  /// @throws Exception the attempt has failed: the transaction is rolled back, and the task is lent again after the queue's wait
  void handle(QueueTask task, Transaction transaction) throws Exception;
}
