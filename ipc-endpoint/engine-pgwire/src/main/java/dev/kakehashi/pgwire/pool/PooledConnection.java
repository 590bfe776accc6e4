package dev.kakehashi.pgwire.pool;

import dev.kakehashi.pgwire.wire.WireConnection;

/// A connection that is lent to one user at a time.
///
/// @param wire the connection itself
/// @param generation of the pool when it was made
/// @param serverProcess the server's process as `pg_stat_activity` tells it apart: its number and when it began
public record PooledConnection(WireConnection wire, long generation, ServerProcess serverProcess) {
  /// A process of a server.
  ///
  /// @param number of the process
  /// @param began `backend_start` as text
  public record ServerProcess(int number, String began) {}
}
