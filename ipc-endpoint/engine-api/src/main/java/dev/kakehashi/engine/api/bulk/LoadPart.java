package dev.kakehashi.engine.api.bulk;

import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A part of the rows of a load. Used by one thread at a time; closed by who has drawn it.
public interface LoadPart extends AutoCloseable {
  /// From 0, without gaps, in the order of the rows.
  long number();

  /// Leaves out the first rows, which an earlier run has loaded or rejected. Before the first [#next()].
  ///
  /// @param rows read, so rejected ones count
  void skip(long rows);

  /// The rows that come next may be read once more, by [#rewind()].
  ///
  /// @param rows that come before, as [#rows()] counts them: within the last batch only if all its rows could be converted
  void mark(long rows);

  /// Goes back to the last [#mark]. Rows that were rejected since come again, and are not rejected yet.
  void rewind();

  /// The next rows as a row batch (PROTOCOL.md §6) of the source's columns; null at the end. It holds until the next call, or the close.
  ///
  /// A row whose values cannot be converted is rejected here, or ends the load.
  ///
  /// @throws EngineException with the SQLSTATE of the value, file, line and column in its detail
  @Nullable MemorySegment next();

  /// Rows read so far, those rejected and skipped among them.
  long rows();

  /// Rows of these that do not fulfil the conditions of the load, and were not looked at.
  default long leftOut() {
    return 0;
  }

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

  /// Says of a row of the last batch that the engine does not take it.
  ///
  /// @param row in the batch, from 0
  /// @param failure why
  /// @throws EngineException when there are more rejected rows than allowed, or `ON_ERROR` is stop: the failure with file and line
  void reject(int row, EngineException failure);

  @Override
  void close();
}
