package dev.kakehashi.engine.api;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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

  /// Takes what the primary sends behind the position, and tells it what is durable, until the stream ends. Groups that are whole stay.
  ///
  /// @throws IOException the stream has ended, or was damaged on its way
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  void follow(InputStream from, OutputStream to) throws IOException, InterruptedException;

  /// Says how it goes, for people and monitoring.
  ///
  /// @param problem why the primary is not followed; empty: it is
  void told(String primary, String problem);
}
