package dev.kakehashi.engine.api;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Statements of one client. Used by one thread at a time.
public interface EngineSession extends AutoCloseable {
  /// Parses, validates and plans one statement, or finds it in the plan cache.
  ///
  /// Planning may take milliseconds, so it runs as a job; a cached plan completes on the calling thread.
  ///
  /// @param sql one statement, parameters as `$1`, `$2`, ...
  /// @param parameterTypeOids PostgreSQL type OIDs, 0 to infer; may be shorter than the number of parameters
  /// @param done receives the statement or the failure, exactly once
  void prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done);

  @Override
  void close();
}
