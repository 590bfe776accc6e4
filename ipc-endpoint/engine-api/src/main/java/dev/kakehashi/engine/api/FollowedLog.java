package dev.kakehashi.engine.api;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// The log of a standby, for who brings it after that of the primary. One thread receives; the rest is for any.
public interface FollowedLog {
  /// Identifier of the log, which the primary compares with its own.
  long logId();

  /// Up to where it has the log, durably.
  LogPosition position();

  /// Its last frame before its position, which the primary compares with its own; null: it begins there.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException IO_ERROR
  @Nullable LogFrame last();

  /// Position up to which readers see it.
  LogPosition applied();

  /// Takes an answer of the primary; what has come whole before a failure stays.
  ///
  /// @return whether it had something new
  /// @throws IOException if the answer is cut off, or damaged on its way
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  boolean receive(InputStream answer) throws IOException;

  /// Whether commits of the primary wait until readers here see them: it is told as soon as they do.
  boolean waitsForReaders();

  /// Says how it goes, for people and monitoring.
  ///
  /// @param problem why the primary is not followed; empty: it is
  void told(String primary, String problem);

  /// Waits until readers see all that it has.
  ///
  /// @return false: the time is over
  boolean awaitApplied(long waitNanos) throws InterruptedException;
}
