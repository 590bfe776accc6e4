package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.vector.VectorBatch;

/// Keeps the rows of a query that locks or changes rows.
final class RowKeeper implements ChangeConsumer {
  private final MaterializedRows rows;

  RowKeeper(int[] typeOids, MemoryAccount memory) {
    this.rows = new MaterializedRows(typeOids, memory);
  }

  @Override
  public void begin() {}

  @Override
  public MaterializedRows returned() {
    return rows;
  }

  @Override
  public boolean accept(VectorBatch batch) {
    rows.append(batch);
    return true;
  }

  @Override
  public void close() {
    rows.clear();
  }

  @Override
  public long rows() {
    return rows.size();
  }
}
