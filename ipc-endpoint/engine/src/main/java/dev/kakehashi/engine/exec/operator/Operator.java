package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.vector.VectorBatch;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// One step of a chain: hands out batches that it gets from the operator below.
///
/// Confined to the task that runs the chain. `open`, `next` until null, `close`; then it may be opened again.
public abstract class Operator {
  /// Rows of the first batches are multiplied by this from one to the next.
  private static final int GROWTH = 4;

  /// Tells before an execution after how many rows whoever asks for them is likely to have enough. The first batch is as small then, so
  /// that little is read in vain; the next ones grow, because a condition may drop rows.
  public void expectRows(long rows) {}

  /// Tells before an execution in which columns of its batches numerics may be compact words, or addresses that a scan has marked. Texts
  /// may be compact words there. Nobody has to make use of it. See [dev.kakehashi.engine.type.numeric.NumericWord] and
  /// [dev.kakehashi.engine.type.value.TextWord].
  public void giveCompact(BitSet columns) {}

  /// Rows of a first batch of which so many are expected.
  protected static int firstBatch(long expected) {
    return Math.clamp(expected, 1, VectorBatch.CAPACITY);
  }

  /// Rows of the batch after one of so many.
  protected static int nextBatch(int rows) {
    return Math.min(VectorBatch.CAPACITY, GROWTH * rows);
  }

  /// Begins an execution.
  public abstract void open();

  /// Next batch with at least one live row, valid until the next call; null at the end.
  public abstract @Nullable VectorBatch next();

  /// Frees what the execution holds. Idempotent.
  public abstract void close();
}
