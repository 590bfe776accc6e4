package dev.kakehashi.engine.store.log.file;

import dev.kakehashi.protocol.ErrorCode;

/// Messages for failures of files, in PostgreSQL's words.
public final class DiskErrors {
  private DiskErrors() {}

  /// @param reason of the operating system, as it comes in exceptions of Java and RocksDB
  /// @return DISK_FULL, IO_ERROR or INTERNAL_ERROR
  public static ErrorCode code(String reason) {
    if (reason.contains("No space left") || reason.contains("Disk quota exceeded")) {
      return ErrorCode.DISK_FULL;
    }
    boolean io = reason.contains("Input/output error") || reason.contains("Read-only file system");
    return io ? ErrorCode.IO_ERROR : ErrorCode.INTERNAL_ERROR;
  }
}
