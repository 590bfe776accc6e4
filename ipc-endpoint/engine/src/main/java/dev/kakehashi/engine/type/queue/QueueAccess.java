package dev.kakehashi.engine.type.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;

/// The queues as the functions of one statement use them, with the rights of its user. Thread-safe.
///
/// All calls may throw UNDEFINED_OBJECT and INSUFFICIENT_PRIVILEGE, those with a token LEASE_LOST and INVALID_PARAMETER_VALUE, those that
/// change something READ_ONLY_TRANSACTION.
public interface QueueAccess {
  /// Access of a context that has no queues.
  QueueAccess NONE =
      new QueueAccess() {
        private EngineException refused() {
          return new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "functions of queues cannot be used here");
        }

        @Override
        public long enqueue(String queue, NewTask task) {
          throw refused();
        }

        @Override
        public void complete(String token) {
          throw refused();
        }

        @Override
        public void fail(String token, String error, long retryMillis) {
          throw refused();
        }

        @Override
        public void release(String token) {
          throw refused();
        }

        @Override
        public long extend(String token, long leaseMillis) {
          throw refused();
        }

        @Override
        public boolean cancel(String queue, long taskId) {
          throw refused();
        }

        @Override
        public List<LeasedTask> received() {
          throw refused();
        }
      };

  /// @param queue its name, as SQL writes it
  /// @return the task's number
  long enqueue(String queue, NewTask task);

  void complete(String token);

  /// @param retryMillis negative: by the queue's backoff
  void fail(String token, String error, long retryMillis);

  void release(String token);

  /// @param leaseMillis 0: the queue's
  /// @return the lease's new end, milliseconds since 1970
  long extend(String token, long leaseMillis);

  /// Whether there was such a task that is not lent.
  boolean cancel(String queue, long taskId);

  /// Tasks that came for the statement before it began.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED where nothing could come
  List<LeasedTask> received();
}
