package dev.kakehashi.rest.job;

/// What became of a transaction, also before the last start of the endpoint. Thread-safe; may block for some milliseconds.
@FunctionalInterface
public interface OutcomeLookup {
  Outcome outcome(String owner, String transactionToken);

  /// How a transaction has ended.
  enum Outcome {
    COMMITTED,
    /// It did not commit, and never will.
    ROLLED_BACK,
    /// Not known, or not decided yet: it is open or prepared.
    UNKNOWN
  }
}
