package dev.kakehashi.rest.job;

import java.nio.channels.FileChannel;

/// A file of a result that is being read: it stays until this is closed, whatever becomes of its job. One thread at a time.
public interface FileHold extends AutoCloseable {
  JobFile file();

  /// To read the file; closed with this.
  FileChannel channel();

  /// When the job ended, in milliseconds since 1970.
  long modifiedMillis();

  /// Counts as a read of the result. A second close does nothing.
  @Override
  void close();
}
