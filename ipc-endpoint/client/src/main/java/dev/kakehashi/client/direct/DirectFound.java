package dev.kakehashi.client.direct;

/// What is found of one row.
enum DirectFound {
  FOUND,
  NOTHING,
  /// Not for sure: a request knows.
  ELSE,
  /// Something has changed: look again.
  TORN
}
