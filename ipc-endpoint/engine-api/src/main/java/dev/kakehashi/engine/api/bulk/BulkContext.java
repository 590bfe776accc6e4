package dev.kakehashi.engine.api.bulk;

/// The running statement, as whoever reads and writes its files needs it. Thread-safe.
public interface BulkContext {
  /// Returns at once unless the statement is to end. To be called every few milliseconds, at least once for 1 MB.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException QUERY_CANCELED, ...
  void checkCanceled();

  /// Takes memory out of the statement's, before it is allocated.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY when the statement may not have so much
  void reserveMemory(long bytes);

  void releaseMemory(long bytes);

  /// The instant of the words "now", "today" and so on in texts, the same for all files of a statement: microseconds since 2000-01-01 UTC.
  long now();
}
