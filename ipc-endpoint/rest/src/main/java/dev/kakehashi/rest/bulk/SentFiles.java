package dev.kakehashi.rest.bulk;

import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.InputStream;

/// Files that clients send. Thread-safe, as its parts are.
///
/// @param uploads those in pieces
/// @param intake takes whole ones
/// @param maxBytes of one, because a user has no more space
public record SentFiles(UploadFiles uploads, Intake intake, long maxBytes) {
  /// Takes a stream in, for one load.
  @FunctionalInterface
  public interface Intake {
    /// Reads to the end, on the calling thread. Nothing stays behind after a failure.
    ///
    /// @param owner role of the load
    /// @return id; its location is `stream:id`
    /// @throws EngineException DISK_FULL, TEMP_SPACE_EXCEEDED
    /// @throws IOException of the stream
    String take(String owner, InputStream stream) throws IOException;
  }

  /// Removes a file that may be gone already.
  void forget(String owner, String id) {
    try {
      uploads.remove(owner, id);
    } catch (EngineException e) {
      if (e.code() != ErrorCode.UNDEFINED_FILE) {
        throw e;
      }
    }
  }
}
