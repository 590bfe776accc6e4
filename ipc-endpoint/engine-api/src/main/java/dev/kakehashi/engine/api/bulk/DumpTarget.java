package dev.kakehashi.engine.api.bulk;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// Files of one dump. Thread-safe; owned by the statement, which closes it.
public interface DumpTarget extends AutoCloseable {
  /// A writer for one thread at a time. Each writes files of its own; a dump into one file has one, which the callers share by turns.
  ///
  /// @param number from 0
  Writer writer(int number);

  /// Whether there can be several writers, because the dump may have several files.
  boolean isParallel();

  /// Makes all files durable under their names. All writers are closed before.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DUPLICATE_FILE
  List<DumpedFile> finish();

  /// Without [#finish()] the files are removed. Writers that are not closed are given up, without writing what they have left.
  @Override
  void close();

  /// Writes rows.
  interface Writer extends AutoCloseable {
    /// @param batch row batch (PROTOCOL.md §6) of the columns; not needed afterwards
    /// @throws dev.kakehashi.engine.api.error.EngineException for a value that the format cannot hold exactly, with its column;
    ///     DISK_FULL, ...
    void rows(MemorySegment batch);

    /// Writes what is left.
    @Override
    void close();
  }

  /// A file that has been written.
  ///
  /// @param file as a location
  /// @param digest SHA-256 of its bytes, hexadecimal
  record DumpedFile(String file, long rows, long bytes, String digest) {}
}
