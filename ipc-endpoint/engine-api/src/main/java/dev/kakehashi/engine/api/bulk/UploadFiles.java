package dev.kakehashi.engine.api.bulk;

import java.lang.foreign.MemorySegment;

/// Files that clients send in pieces, each of one role, within a budget, and gone some time after their last use. Thread-safe; survive a
/// restart.
public interface UploadFiles {
  /// @return id, 32 hexadecimal digits; the location is `upload:id`
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, CONFIGURATION_LIMIT_EXCEEDED for the budget
  String begin(String owner);

  /// Appends.
  ///
  /// @param offset length that the client believes the file has
  /// @return the new length
  /// @throws dev.kakehashi.engine.api.error.EngineException UNDEFINED_FILE for another's or an unknown id, INVALID_PARAMETER_VALUE for
  ///     another offset (with the length in its detail), DISK_FULL, ...
  long append(String owner, String id, long offset, MemorySegment bytes);

  /// Length so far.
  long length(String owner, String id);

  void remove(String owner, String id);
}
