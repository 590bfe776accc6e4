package dev.kakehashi.bulk.format;

import java.lang.foreign.MemorySegment;

/// Writes rows into one file. Not thread-safe.
public interface RowsOutput extends AutoCloseable {
  /// @param batch row batch of the columns; not needed afterwards
  /// @throws dev.kakehashi.engine.api.EngineException for a value that the format cannot hold exactly, with its column
  void rows(MemorySegment batch);

  /// Rows so far.
  long rowCount();

  /// Bytes that the file will have at least if it ended now: for limits of its size.
  long estimatedBytes();

  /// Writes what is left, so that the file is whole.
  void end();

  /// Frees memory; without [#end()] the file is not whole.
  @Override
  void close();
}
