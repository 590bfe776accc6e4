package dev.kakehashi.rest.job;

import org.jspecify.annotations.Nullable;

/// Outcomes of transactions and of loads in batches, also of those before the last start of the endpoint. Thread-safe; may block for some
/// milliseconds.
@FunctionalInterface
public interface OutcomeLookup {
  Outcome outcome(String owner, String transactionToken);

  /// How far a load in batches is.
  ///
  /// @param name by which it goes on
  /// @return null: that cannot be told
  default @Nullable Load load(String owner, String name) {
    return null;
  }

  /// How far a load in batches is.
  ///
  /// @param rows that it has loaded and committed, in all its runs
  /// @param isDone whether that is all of it
  record Load(long rows, boolean isDone) {}

  /// How a transaction has ended.
  enum Outcome {
    COMMITTED,
    /// It did not commit, and never will.
    ROLLED_BACK,
    /// Not known, or not decided yet: it is open or prepared.
    UNKNOWN
  }
}
