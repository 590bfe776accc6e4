package dev.kakehashi.rest.job;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/// 256 bits of SHA-256, as a value.
record Hash(long a, long b, long c, long d) {
  static Hash of(byte[] bytes) {
    ByteBuffer b = ByteBuffer.wrap(bytes);
    return new Hash(b.getLong(), b.getLong(), b.getLong(), b.getLong());
  }

  /// Hash of several parts, each with its length, so that no two lists of parts are alike.
  static Hash ofParts(byte[]... parts) {
    MessageDigest digest = Sha256.begin();
    for (byte[] part : parts) {
      digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
      digest.update(part);
    }
    return of(digest.digest());
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
