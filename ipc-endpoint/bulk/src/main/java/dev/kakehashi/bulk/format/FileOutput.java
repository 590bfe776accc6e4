package dev.kakehashi.bulk.format;

/// Bytes of one file that is written from its beginning to its end. Not thread-safe.
public interface FileOutput {
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR
  void write(byte[] bytes, int from, int count);

  /// Writes the remaining bytes of a buffer, of whatever memory.
  void write(java.nio.ByteBuffer bytes);

  /// Bytes written so far.
  long position();
}
