package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.DiskErrors;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;

/// Where statements put rows that do not fit into their memory. Thread-safe.
///
/// A file loses its name when it is made, so it goes with its last user, whatever becomes of the process.
public final class TempSpace {
  private final Path directory;

  /// Written by whoever changes it, read by all.
  private volatile long limitBytes;

  private final AtomicLong used = new AtomicLong();
  private final AtomicLong written = new AtomicLong();
  private final AtomicLong names = new AtomicLong();

  /// @param directory made when it is needed; what an earlier process has left there goes
  /// @param limitBytes most bytes that all statements may have there at a time
  public TempSpace(Path directory, long limitBytes) {
    this.directory = directory;
    this.limitBytes = limitBytes;
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      throw failure("could not remove the temporary files of an earlier process", e);
    }
  }

  /// Changes the limit; what is there stays.
  public void limit(long bytes) {
    limitBytes = bytes;
  }

  /// Bytes in use.
  public long usedBytes() {
    return used.get();
  }

  /// Bytes that were ever in use.
  public long writtenBytes() {
    return written.get();
  }

  /// A fresh file.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR, INTERNAL_ERROR
  FileChannel create() {
    try {
      Files.createDirectories(directory);
      return FileChannel.open(
          directory.resolve("spill-" + names.incrementAndGet()),
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.DELETE_ON_CLOSE);
    } catch (IOException e) {
      throw failure("could not make a temporary file", e);
    }
  }

  /// Counts `bytes` more.
  ///
  /// @throws EngineException TEMP_SPACE_EXCEEDED beyond the limit; then nothing is counted
  void reserve(long bytes) {
    if (used.addAndGet(bytes) > limitBytes) {
      used.addAndGet(-bytes);
      throw new EngineException(
              ErrorCode.TEMP_SPACE_EXCEEDED, "temporary files need more than the space for them")
          .withDetail("The limit of all statements is " + limitBytes + " bytes.")
          .withHint("Raise temp_space or statement_memory, or sort, join or group fewer rows.");
    }
    written.addAndGet(bytes);
  }

  void release(long bytes) {
    used.addAndGet(-bytes);
  }

  /// Failure of a file here, by the reason of the operating system.
  EngineException failure(String what, IOException e) {
    String reason = String.valueOf(e.getMessage());
    ErrorCode code = DiskErrors.code(reason);
    EngineException failure =
        new EngineException(code, what + " in \"" + directory + "\": " + reason, e);
    return code == ErrorCode.DISK_FULL
        ? failure.withHint(
            "Free space on the disk, raise statement_memory, or sort, join or group fewer rows.")
        : failure;
  }
}
