package dev.kakehashi.client.direct;

/// Ends of a direct read.
public enum DirectAnswer {
  /// The writer has the row.
  ROW,
  /// There is none.
  NO_ROW,
  /// This time a request has to answer.
  ASK,
  /// The ticket does not hold any more: the statement has to be prepared again for another one.
  STALE
}
