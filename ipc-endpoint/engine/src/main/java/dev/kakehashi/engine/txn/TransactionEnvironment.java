package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.store.Store;
import dev.kakehashi.scheduler.TaskScheduler;

/// What the transactions of an engine share.
public interface TransactionEnvironment {
  Store store();

  TaskScheduler scheduler();

  Deadlocks deadlocks();

  PreparedTransactions prepared();

  /// Most bytes that a statement may hold.
  long statementMemoryBytes();

  /// A transaction has ended.
  void ended(EngineTransaction transaction);
}
