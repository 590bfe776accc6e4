package dev.kakehashi.engine.api.application;

import dev.kakehashi.engine.api.queue.LeasedTask;
import java.util.List;

/// Services of the engine for applications. Thread-safe. All block, so they are for threads that may: never workers or the poller.
public interface ApplicationHost {
  /// Bytes of a jar of the store.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED, UNDEFINED_OBJECT
  byte[] jar(ApplicationDefinition.Jar jar);

  /// Begins a transaction.
  ///
  /// @param user whose rights count
  /// @param isolation `READ COMMITTED`, `REPEATABLE READ`, `SERIALIZABLE`
  DirectTransaction begin(String user, String isolation);

  /// Takes part in a transaction that somebody else has begun.
  ///
  /// @param token as clients have it
  /// @throws dev.kakehashi.engine.api.error.EngineException NO_SUCH_TRANSACTION
  JoinedAccess join(String user, String token);

  /// A part of a transaction that somebody else has begun. He waits with his next statement until it is closed.
  interface JoinedAccess extends DirectAccess, AutoCloseable {
    @Override
    void close();
  }

  /// A transaction of the platform.
  interface DirectTransaction extends DirectAccess {
    /// Commits, and waits until it is durable.
    ///
    /// @throws dev.kakehashi.engine.api.error.EngineException SERIALIZATION_FAILURE, ...
    void commit();

    /// Rolls back; no effect after the end.
    void rollback();
  }

  /// Takes tasks of a queue for a handler; blocks until some are there, or the wait is over, or the thread is interrupted.
  ///
  /// @param user owner of the application
  /// @return empty: none came
  List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos)
      throws InterruptedException;

  /// Lends a task for longer.
  void extend(String token, long leaseMillis);

  /// Gives leases of a handler back: its version ends.
  void release(List<String> tokens);
}
