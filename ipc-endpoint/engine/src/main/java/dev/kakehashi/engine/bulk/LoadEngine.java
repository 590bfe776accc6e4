package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Services of the engine for a load in batches. Thread-safe.
public interface LoadEngine {
  /// A transaction of the load's own.
  ManagedTransaction begin();

  /// Plans a statement about the engine's records of loads, whichever user loads.
  ///
  /// @param parameterOids types of its parameters
  Prepared.Planned plan(String sql, int[] parameterOids, CatalogSnapshot catalog);

  /// The task of a definition in the schema where the engine keeps what it does of loads.
  Task define(
      String sql,
      StatementExecution execution,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done);

  /// Sequences as one more session uses them.
  SequenceAccess sequences();

  TaskScheduler scheduler();

  /// Calls `done` when everything that has been committed so far is durable.
  void whenAllDurable(Runnable done);
}
