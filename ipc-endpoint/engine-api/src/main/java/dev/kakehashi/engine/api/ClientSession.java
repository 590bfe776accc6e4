package dev.kakehashi.engine.api;

import org.jspecify.annotations.Nullable;

/// A client's session as whoever serves it sees it: a row of the table of sessions.
///
/// @param id of the endpoint
/// @param client the program at its other end
/// @param userName user of the engine
/// @param attachedMicros since 2000-01-01 UTC
/// @param work what it does
/// @param owner for whom it works
/// @param traffic what it has been sent
public record ClientSession(
    long id,
    Client client,
    String userName,
    long attachedMicros,
    Work work,
    Viewer owner,
    Traffic traffic) {
  /// The program of a session.
  ///
  /// @param kind what kind of program it is
  /// @param applicationName as it calls itself
  /// @param processId as it sees itself
  /// @param pidNamespace in which it has that number: inode of its `/proc/self/ns/pid`
  /// @param osUser OS user that it runs as
  public record Client(
      String kind, String applicationName, long processId, long pidNamespace, String osUser) {}

  /// A session at a moment.
  ///
  /// @param state what it does
  /// @param transaction reference of the transaction that it has used last and that is open ([EngineTransaction#reference(long)]); 0: none
  /// @param statement text of the statement that is planned, or that began last of those that run; null: neither
  /// @param statementMicros when that began, since 2000-01-01 UTC; null: there is none
  /// @param running statements that run
  public record Work(
      State state,
      long transaction,
      @Nullable String statement,
      @Nullable Long statementMicros,
      int running) {}

  /// State of a session.
  public enum State {
    /// A statement of it runs.
    ACTIVE,
    /// A statement of it is parsed and planned, and none runs.
    PLANNING,
    /// It has an open transaction in which nothing runs.
    IDLE_IN_TRANSACTION,
    IDLE
  }

  /// Counts since the session began, except the last.
  ///
  /// @param requests that have an answer
  /// @param rows sent
  /// @param batches that carried them
  /// @param bytes of these batches
  /// @param waits how often a statement had to wait until the client had read
  /// @param bufferBytes of shared memory that it holds now, besides its mailbox
  /// @param directReads that it says to have made, without a request
  public record Traffic(
      long requests,
      long rows,
      long batches,
      long bytes,
      long waits,
      long bufferBytes,
      long directReads) {}
}
