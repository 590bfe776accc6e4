package dev.kakehashi.engine.api.bulk;

import org.jspecify.annotations.Nullable;

/// Rows of the files of one load. Thread-safe; owned by the statement, which closes it.
///
/// The rows come in parts, whose numbers depend on the files and the options alone: a load that goes on skips the parts that it has. Parts
/// are drawn in the order of the files, read by different threads at a time, and end in any order.
public interface LoadSource extends AutoCloseable {
  /// Columns that the rows have, in their order: each is an index into the columns that [LoadRequest#open] was given. A column that is
  /// missing gets its default.
  int[] columns();

  /// SHA-256 over names and contents of the files: a load goes on with the same files only. Reads them whole.
  byte[] digest();

  /// Draws the next part; null: there is no more.
  @Nullable LoadPart next();

  /// Bytes of all files.
  long totalBytes();

  /// Bytes read so far.
  long readBytes();

  /// To be called when all parts have been read: checks that no file has changed meanwhile, and publishes the file of rejected rows.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OBJECT_NOT_IN_PREREQUISITE_STATE when a file has changed, DISK_FULL,
  ///     IO_ERROR; or because too many rows were rejected, by their ratio
  LoadSummary finish();

  /// Closes the files; without [#finish()] the file of rejected rows is removed.
  @Override
  void close();

  /// Summary of the rows that a load has read.
  ///
  /// @param rows read, with those rejected
  /// @param rejectFile where the rejected ones are, as a location; null: there is none
  record LoadSummary(long rows, long rejected, @Nullable String rejectFile) {}
}
