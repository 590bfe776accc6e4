package dev.kakehashi.engine.api.bulk;

import java.util.List;

/// A checked `COPY … TO`. Immutable.
public interface DumpRequest {
  DumpControl control();

  /// Makes ready to write; no file has its final name before [DumpTarget#finish()].
  ///
  /// @param query text of the table or query, for the files' metadata
  /// @param stream takes the bytes of `COPY … TO STDOUT`
  /// @throws dev.kakehashi.engine.api.error.EngineException INSUFFICIENT_PRIVILEGE, DUPLICATE_FILE when the file exists,
  ///     FEATURE_NOT_SUPPORTED for a type that the format cannot hold exactly, ...
  DumpTarget open(
      List<LoadColumn> columns, String query, BulkUser user, BulkContext context, ByteSink stream);

  /// Options of the engine's part of a dump.
  ///
  /// @param partitionBy columns whose values make a file each: rows come sorted by them
  /// @param orderBy columns to sort by, each with `ASC` or `DESC` after it if it says so
  /// @param workers most tasks at a time; 0: as many as there are workers
  record DumpControl(List<String> partitionBy, List<String> orderBy, int workers) {
    /// Whether one writer has to get the rows in their order.
    public boolean isOrdered() {
      return !partitionBy.isEmpty() || !orderBy.isEmpty();
    }
  }

  /// Takes bytes in their order.
  interface ByteSink {
    /// May block until the reader has room. The array is not needed afterwards.
    void write(byte[] bytes, int from, int count);
  }
}
