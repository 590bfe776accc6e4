package dev.kakehashi.engine.store.api;

/// Description of a prepared transaction besides its changes. Opaque to the store, and kept as long as the changes.
///
/// @param globalId names it; at most 200 bytes of UTF-8
/// @param owner who may decide on it
/// @param userName for displays
/// @param reference number that its beginner knows it by
/// @param preparedMicros since 2000-01-01 UTC
public record Preparation(
    String globalId, String owner, String userName, long reference, long preparedMicros) {
  /// Longest global identifier, in bytes of UTF-8; PostgreSQL's limit.
  public static final int MAX_GLOBAL_ID_BYTES = 200;
}
