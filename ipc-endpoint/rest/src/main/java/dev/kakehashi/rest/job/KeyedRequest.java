package dev.kakehashi.rest.job;

/// A request under a key. The key is one of its user: others' are never met.
public final class KeyedRequest {
  /// Longest key, in characters.
  public static final int MAX_KEY_CHARACTERS = 255;

  private final Hash id;
  private final Hash fingerprint;

  private KeyedRequest(Hash id, Hash fingerprint) {
    this.id = id;
    this.fingerprint = fingerprint;
  }

  /// @param key 1 to 255 characters
  /// @param target method and path with its query
  /// @param meaning headers that change what the request means, in an order that is always the same
  /// @param body or its digest
  public static KeyedRequest of(
      String user, String key, String target, String meaning, byte[] body) {
    if (key.isEmpty() || key.length() > MAX_KEY_CHARACTERS) {
      throw new IllegalArgumentException("a key of " + key.length() + " characters");
    }
    return new KeyedRequest(
        Hash.ofParts(Hash.bytes(user), Hash.bytes(key)),
        Hash.ofParts(Hash.bytes(target), Hash.bytes(meaning), body));
  }

  Hash id() {
    return id;
  }

  Hash fingerprint() {
    return fingerprint;
  }
}
