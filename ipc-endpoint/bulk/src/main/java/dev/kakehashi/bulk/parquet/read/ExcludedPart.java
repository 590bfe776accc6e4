package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A row group without a row that is wanted, as its statistics say: none of it is read. It is a part, so that parts have the same numbers
/// whatever is left out.
final class ExcludedPart implements RowsPart {
  private final long groupRows;
  private long rows;

  ExcludedPart(long groupRows) {
    this.groupRows = groupRows;
  }

  @Override
  public @Nullable MemorySegment next(BadRows badRows) {
    rows = groupRows;
    return null;
  }

  @Override
  public void rewind() {
    rows = 0;
  }

  @Override
  public RowOrigin origin(int row) {
    throw new IllegalStateException("the row group gives no rows");
  }

  @Override
  public long rows() {
    return rows;
  }

  @Override
  public long leftOut() {
    return rows;
  }

  @Override
  public long readBytes() {
    return 0;
  }

  @Override
  public void close() {}
}
