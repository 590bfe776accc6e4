package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.vector.Interrupts;

/// How long code of a function runs without a look whether the statement is to end: calls come in pieces that grow while they are short.
/// Confined to one task.
public final class FunctionTime {
  private static final int FIRST_PIECE = 16;
  private static final int MOST_ROWS = 1024;

  /// Pieces that take less are too small.
  private static final long SHORT_NANOS = 100_000;

  /// Pieces that take more are too large.
  private static final long LONG_NANOS = 1_000_000;

  private final FunctionMeter meter;
  private int piece = FIRST_PIECE;
  private long began;

  public FunctionTime(FunctionMeter meter) {
    this.meter = meter;
  }

  /// Rows of the next call, at most.
  public int piece() {
    return piece;
  }

  /// User code is about to run.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException QUERY_CANCELED when the statement is to end
  public void begin() {
    Interrupts.check();
    began = System.nanoTime();
  }

  /// It has run.
  ///
  /// @param rows that it was called for
  public void end(int rows) {
    long took = System.nanoTime() - began;
    meter.add(rows, took);
    if (took < SHORT_NANOS) {
      piece = Math.min(MOST_ROWS, 2 * piece);
    } else if (took > LONG_NANOS) {
      piece = Math.max(1, piece / 2);
    }
  }
}
