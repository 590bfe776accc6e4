package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.stream.IntStream;

/// Rows that one task inserts as a [BulkInsert]. Whether their keys are unique is known when they are finished. Used by one thread at a
/// time.
final class BulkRows implements AutoCloseable {
  private final ChangedTable table;
  private final BulkInsert insertion;
  private final BulkInsert.Part part;

  BulkRows(ChangedTable table) {
    this.table = table;
    this.insertion = table.table().bulkInsert(table.transaction());
    this.part = insertion.newPart();
  }

  void insert(VectorBatch values, int row) {
    table.noteInserted(part.insert(values, row));
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException UNIQUE_VIOLATION
  void finish() {
    part.close();
    insertion.finish((failure, row, other) -> {
      throw described(failure, row);
    });
  }

  private RuntimeException described(DuplicateKey failure, long row) {
    int width = table.target().columns().size();
    try (VectorBatch values = new VectorBatch(width)) {
      insertion.read(row, IntStream.range(0, width).toArray(), values);
      return table.duplicateKey(failure, values, 0);
    }
  }

  /// Takes the rows back that are not finished.
  @Override
  public void close() {
    insertion.close();
  }
}
