package dev.kakehashi.bulk.format;

import java.lang.foreign.MemorySegment;

/// Bytes of one file. Thread-safe; reads go to the file, never to a mapping: a file that shrinks is an error, no signal.
public interface FileInput {
  /// As a location, for messages.
  String name();

  /// When it was opened.
  long sizeBytes();

  /// Fills memory with the bytes from `offset` on.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException BAD_COPY_FILE_FORMAT when the file ends before, IO_ERROR
  void read(long offset, MemorySegment into);
}
