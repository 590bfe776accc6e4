package dev.kakehashi.client.direct;

/// Ends of a look at one row.
enum DirectFound {
  FOUND,
  NOTHING,
  /// Not for sure: a request knows.
  ELSE,
  /// Something has changed: look again.
  TORN
}
