package dev.kakehashi.client;

import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;

/// Room for the row of a direct read, for one query after the other. One thread.
final class DirectResult {
  private final RowBatchWriter writer;
  private final RowBatchReader reader = new RowBatchReader();

  /// @param maxBytes of a row with all of its values
  DirectResult(int columnCount, int maxBytes) {
    writer = RowBatchWriter.growable(columnCount, 1, maxBytes);
  }

  /// For another row; what was there is forgotten.
  RowBatchWriter empty() {
    writer.reset();
    return writer;
  }

  /// The row that was written, or none; valid until the next call of [#empty()].
  RowBatchReader finished() {
    writer.finish();
    return reader.wrap(writer.batch());
  }
}
