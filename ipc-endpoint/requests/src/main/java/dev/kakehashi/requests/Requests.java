package dev.kakehashi.requests;

import java.util.OptionalLong;

/// The door for interfaces of the same process, as HTTP: what they send meets the same sessions, transactions, leases, admission and limits
/// as what comes through shared memory. Thread-safe.
public interface Requests {
  /// Opens a session. It costs no thread and no file.
  ///
  /// @param kind of the interface as the table of sessions shows it, as `http`
  /// @param applicationName as the client calls itself; may be empty
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_SLOTS, SHUTTING_DOWN
  RequestSession open(RequestUser user, String kind, String applicationName);

  /// The name of a transaction outside of the process: 32 hexadecimal digits that nobody can guess or make without the endpoint's secret.
  /// It holds as long as the data directory, also after a restart and for a transaction that has ended.
  String token(RequestUser user, long handle);

  /// The handle that a token of this user stands for; empty: it is none, or somebody else's.
  OptionalLong handle(RequestUser user, String token);
}
