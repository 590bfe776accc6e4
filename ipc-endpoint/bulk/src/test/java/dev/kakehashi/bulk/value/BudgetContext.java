package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Clock;

/// A statement that may have so much memory, and knows how much it has.
public final class BudgetContext implements BulkContext {
  private final long limit;
  private long reserved;
  private long most;

  public BudgetContext(long limit) {
    this.limit = limit;
  }

  @Override
  public void checkCanceled() {
    // Nobody cancels it.
  }

  @Override
  public synchronized void reserveMemory(long bytes) {
    if (bytes < 0 || reserved + bytes > limit) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "no memory for " + bytes + " bytes");
    }
    reserved += bytes;
    most = Math.max(most, reserved);
  }

  @Override
  public long now() {
    return Clock.now();
  }

  @Override
  public synchronized void releaseMemory(long bytes) {
    reserved -= bytes;
  }

  /// Bytes that are still held.
  public synchronized long reserved() {
    return reserved;
  }

  /// The most that was held at a time.
  public synchronized long most() {
    return most;
  }
}
