package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.VectorBatch;

/// Looks whether the rows of a table fulfil a new deferrable unique constraint. Nobody else has the table meanwhile.
final class UniquePass extends BatchPass {
  private static final int[] NO_COLUMNS = {};

  private final long tableId;
  private final long indexId;
  private final VectorBatch source = new VectorBatch(0);

  UniquePass(Table table, Index index) {
    this.tableId = table.tableId();
    this.indexId = index.indexId();
  }

  @Override
  RowCursor open(StatementExecution execution) {
    TableStore table = execution.store().table(tableId);
    return table.scan(
        execution.transaction().beginLatest(), 0, table.pageCount(), NO_COLUMNS, true);
  }

  @Override
  VectorBatch source() {
    return source;
  }

  @Override
  void accept(StatementExecution execution) {
    TableStore table = execution.store().table(tableId);
    for (int k = 0; k < source.liveRows(); k++) {
      int row = source.selected < 0 ? k : source.selection[k];
      table.requireUnique(execution.transaction(), indexId, source.rowIds[row]);
    }
  }
}
