package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.RowCursor;
import dev.kakehashi.engine.store.TableStore;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// Looks whether the rows of a table fulfil a new deferrable unique constraint. Nobody else has the table meanwhile.
final class UniquePass implements TablePass {
  private static final int[] NO_COLUMNS = {};

  private final long tableId;
  private final long indexId;
  private final VectorBatch source = new VectorBatch(0);
  private @Nullable RowCursor cursor;

  UniquePass(Table table, Index index) {
    this.tableId = table.tableId();
    this.indexId = index.indexId();
  }

  @Override
  public boolean run(StatementExecution execution, TaskContext task) {
    TableStore table = execution.store().table(tableId);
    RowCursor rows = cursor;
    if (rows == null) {
      rows =
          table.scan(execution.transaction().beginLatest(), 0, table.pageCount(), NO_COLUMNS, true);
      cursor = rows;
    }
    while (rows.next(source)) {
      for (int k = 0; k < source.liveRows(); k++) {
        int row = source.selected < 0 ? k : source.selection[k];
        table.requireUnique(execution.transaction(), indexId, source.rowIds[row]);
      }
      execution.scanned(source.size);
      execution.checkCancelled();
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
    source.close();
  }
}
