package dev.kakehashi.bulk.format;

import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A part of the rows of a file. Used by one thread at a time.
public interface RowsPart extends AutoCloseable {
  /// Takes rows whose values cannot be converted, or structure is broken, and says whether the part goes on after them.
  interface BadRows {
    /// @param origin of the row; valid for the call
    /// @throws EngineException when the load does not go on: `failure` itself, completed by file and line, or that there are too many
    void reject(RowOrigin origin, EngineException failure);
  }

  /// The next rows as a row batch of the file's columns; null at the end. It holds until the next call, or the close.
  @Nullable MemorySegment next(BadRows badRows);

  /// Begins again: the next rows are the first ones, in the same batches.
  void rewind();

  /// Where a row of the last batch comes from.
  ///
  /// @param row in the batch, from 0
  RowOrigin origin(int row);

  /// Whether a value of the last batch stands for the default of its column: it is null there.
  default boolean hasDefaults() {
    return false;
  }

  /// Whether this one does.
  ///
  /// @param row in the batch, from 0
  /// @param column of the batch, from 0
  default boolean isDefault(int row, int column) {
    return false;
  }

  /// Rows read so far, those rejected among them.
  long rows();

  /// Rows of these that were not looked at, because of conditions.
  default long leftOut() {
    return 0;
  }

  /// Bytes of the file that this part has read so far.
  long readBytes();

  @Override
  void close();
}
