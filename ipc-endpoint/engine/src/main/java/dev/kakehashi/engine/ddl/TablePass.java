package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.scheduler.TaskContext;

/// Work on the rows of a table that a DDL statement does. Gives its worker to others between batches.
interface TablePass {
  /// Does some of the work.
  ///
  /// @return whether all of it is done
  boolean run(StatementExecution execution, TaskContext task);

  /// Frees what is held. Idempotent.
  void close();
}
