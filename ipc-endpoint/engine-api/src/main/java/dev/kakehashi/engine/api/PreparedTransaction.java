package dev.kakehashi.engine.api;

/// A transaction in the first phase of a two-phase commit: durable, undecided, keeping its rows from others.
///
/// @param globalId names it
/// @param owner who may decide on it, see [EngineSession]
/// @param userName user of the engine that prepared it
/// @param reference what [EngineTransaction#reference(long)] said; 0: nothing
/// @param id engine's number of the transaction, in this run
/// @param preparedMicros since 2000-01-01 UTC
public record PreparedTransaction(
    String globalId, String owner, String userName, long reference, long id, long preparedMicros) {
  /// Hears of what becomes of prepared transactions, before whoever asked for it does. Called from any thread, must not block.
  public interface Listener {
    /// Its preparation is durable.
    void prepared(PreparedTransaction transaction);

    /// It was decided.
    void ended(PreparedTransaction transaction, boolean committed);
  }
}
