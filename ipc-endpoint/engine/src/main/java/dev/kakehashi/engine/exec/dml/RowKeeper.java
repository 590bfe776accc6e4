package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.vector.VectorBatch;

/// Keeps the rows of a query that locks or changes rows.
public final class RowKeeper implements ChangeConsumer {
  private final RowBuffer rows;

  public RowKeeper(int[] typeOids, MemoryAccount memory) {
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
