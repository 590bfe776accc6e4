package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.vector.VectorBatch;

/// Keeps the rows of a query that locks or changes rows.
final class RowKeeper implements ChangeConsumer {
  private final RowBuffer rows;

  RowKeeper(int[] typeOids, MemoryAccount memory) {
    this.rows = new RowBuffer(typeOids, memory);
  }

  @Override
  public void begin() {}

  @Override
  public RowBuffer returned() {
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
