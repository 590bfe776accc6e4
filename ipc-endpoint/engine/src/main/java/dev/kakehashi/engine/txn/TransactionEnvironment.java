package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.scheduler.TaskScheduler;

/// Parts of an engine that its transactions share.
public interface TransactionEnvironment {
  Store store();

  TaskScheduler scheduler();

  /// Where statements are planned.
  PlanningThreads planning();

  Deadlocks deadlocks();

  TableLocks locks();

  IndexBuilds indexBuilds();

  /// The committed catalogue.
  CatalogSnapshot catalog();

  /// The number of a version that a transaction makes for itself.
  long nextCatalogVersion();

  PreparedTransactions prepared();

  /// Longest wait for a lock of a table or row; 0: for ever.
  long lockTimeoutNanos();

  /// Most bytes that a statement may hold.
  long statementMemoryBytes();

  /// Schema and name of a table, for messages.
  String tableName(long tableId);

  /// Where statements put what does not fit into their memory.
  TempSpace tempSpace();

  /// Says in a failure which table and key a conflict was about.
  EngineException describe(EngineException failure, RowConflict conflict);

  /// Whether its changes come from the log of a primary.
  boolean isStandby();

  /// The failure of a statement as its client is told.
  EngineException explained(EngineException failure);

  /// A transaction has ended.
  void ended(ManagedTransaction transaction);
}
