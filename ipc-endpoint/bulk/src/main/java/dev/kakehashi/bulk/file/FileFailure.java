package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.Errno;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.FileSystemException;

/// Failures of files as PostgreSQL says them. Names are locations: no path of the machine leaves the process.
public final class FileFailure {
  private FileFailure() {}

  /// Failure of a call of the system.
  ///
  /// @param what as `could not open`
  /// @param name as a location
  /// @param result the call's, negative
  static EngineException of(String what, String name, int result) {
    int errno = -result;
    ErrorCode code =
        switch (errno) {
          case Errno.ENOENT, Errno.ENOTDIR -> ErrorCode.UNDEFINED_FILE;
          case Errno.EEXIST, Errno.ENOTEMPTY -> ErrorCode.DUPLICATE_FILE;
          case Errno.EISDIR -> ErrorCode.WRONG_OBJECT_TYPE;
          case Errno.EACCES, Errno.EPERM, Errno.EROFS, Errno.ELOOP, Errno.EXDEV ->
              ErrorCode.INSUFFICIENT_PRIVILEGE;
          case Errno.ENAMETOOLONG -> ErrorCode.INVALID_NAME;
          case Errno.ENOSPC, Errno.EDQUOT -> ErrorCode.DISK_FULL;
          case Errno.EMFILE, Errno.ENFILE -> ErrorCode.OUT_OF_SLOTS;
          default -> ErrorCode.IO_ERROR;
        };
    String reason =
        errno == Errno.ELOOP || errno == Errno.EXDEV
            ? "it is a symbolic link, or below one"
            : Errno.reason(errno);
    return new EngineException(code, "%s \"%s\": %s".formatted(what, name, reason));
  }

  /// Failure of a read or write: DISK_FULL or IO_ERROR.
  public static EngineException of(String what, String name, IOException e) {
    String reason =
        e instanceof FileSystemException file && file.getReason() != null
            ? file.getReason()
            : String.valueOf(e.getMessage());
    boolean isFull = reason.contains("No space left") || reason.contains("Disk quota exceeded");
    EngineException failure =
        new EngineException(
            isFull ? ErrorCode.DISK_FULL : ErrorCode.IO_ERROR,
            "%s \"%s\": %s".formatted(what, name, reason),
            e);
    return isFull ? failure.withHint("Free space on the disk of the location.") : failure;
  }
}
