package dev.kakehashi.engine.api;

/// A running statement.
public interface Execution {
  /// Asks it to end with QUERY_CANCELED soon. Idempotent, from any thread, also after the end.
  void cancel();

  /// Rows read so far by its scans; an estimate, from any thread.
  long rowsScanned();
}
