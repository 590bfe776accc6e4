package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.FileSystemException;

/// Makes the errors of files here. Names no file: their names are nobody's matter outside.
final class DiskFailure {
  private DiskFailure() {}

  /// DISK_FULL or IO_ERROR, by the reason of the operating system.
  static EngineException of(String what, IOException e) {
    String reason =
        e instanceof FileSystemException file && file.getReason() != null
            ? file.getReason()
            : String.valueOf(e.getMessage());
    boolean full = reason.contains("No space left") || reason.contains("Disk quota exceeded");
    EngineException failure =
        new EngineException(
            full ? ErrorCode.DISK_FULL : ErrorCode.IO_ERROR, what + ": " + reason, e);
    return full
        ? failure.withHint("Free space on the disk of the data directory, or delete jobs.")
        : failure;
  }
}
