package dev.kakehashi.bulk.format;

import java.lang.foreign.MemorySegment;

/// Writes rows into one file. Not thread-safe, but outputs of one file may be used by a thread each.
public interface RowsOutput extends AutoCloseable {
  /// @param batch row batch of the columns; not needed afterwards
  /// @throws dev.kakehashi.engine.api.error.EngineException for a value that the format cannot hold exactly, with its column
  void rows(MemorySegment batch);

  /// Rows so far.
  long rowCount();

  /// Bytes that the file will have at least if it ended now: for limits of its size.
  long estimatedBytes();

  /// Another output into the same file. The rows of each output go into the file in pieces that are whole, in any order.
  ///
  /// @throws UnsupportedOperationException if the format has no such pieces: [FileFormat#hasPieces()]
  default RowsOutput another() {
    throw new UnsupportedOperationException("one output writes a file of this format");
  }

  /// Writes what is left. When all outputs of the file have ended, it is whole.
  void end();

  /// Frees memory; without [#end()] the file is not whole.
  @Override
  void close();
}
