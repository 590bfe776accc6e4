package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// Goes once over the rows of a table, batch by batch. Nobody else has the table meanwhile.
abstract class BatchPass implements TablePass {
  private @Nullable RowCursor cursor;

  /// Begins; called once.
  abstract RowCursor open(StatementExecution execution);

  /// Batch into which rows are read, from [#open(StatementExecution)] on.
  abstract VectorBatch source();

  /// Works on the rows that are in [#source()].
  abstract void accept(StatementExecution execution);

  @Override
  public final boolean run(StatementExecution execution, TaskContext task) {
    RowCursor rows = cursor;
    if (rows == null) {
      rows = open(execution);
      cursor = rows;
    }
    while (rows.next(source())) {
      accept(execution);
      execution.scanned(source().size);
      execution.checkCanceled();
      if (task.shouldYield()) {
        return false;
      }
    }
    close();
    return true;
  }

  @Override
  public void close() {
    if (cursor != null) {
      cursor.close();
      cursor = null;
    }
    source().close();
  }
}
