package dev.kakehashi.bulk.load;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Errors of files, with the names of the files. Stateless.
final class FileErrors {
  private FileErrors() {}

  /// Says in which file something is wrong, if it is the file and the error does not say so.
  ///
  /// @return the same error
  static EngineException named(EngineException failure, String file) {
    boolean isOfFile =
        failure.code() == ErrorCode.BAD_COPY_FILE_FORMAT
            || failure.code() == ErrorCode.FEATURE_NOT_SUPPORTED;
    String name = "\"" + file + "\"";
    if (!isOfFile
        || String.valueOf(failure.getMessage()).contains(name)
        || failure.detail().contains(name)) {
      return failure;
    }
    String before = failure.detail().isEmpty() ? "" : failure.detail() + " ";
    return failure.withDetail(before + "The file is " + name + ".");
  }
}
