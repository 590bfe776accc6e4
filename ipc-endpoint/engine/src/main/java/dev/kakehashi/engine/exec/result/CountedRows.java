package dev.kakehashi.engine.exec.result;

import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.vector.VectorBatch;

/// Takes rows that nobody wants to see.
public final class CountedRows implements BatchConsumer {
  private long rows;

  @Override
  public boolean accept(VectorBatch batch) {
    rows += batch.liveRows();
    return true;
  }

  @Override
  public boolean finish() {
    return true;
  }

  @Override
  public void abandon() {}

  @Override
  public long rows() {
    return rows;
  }
}
