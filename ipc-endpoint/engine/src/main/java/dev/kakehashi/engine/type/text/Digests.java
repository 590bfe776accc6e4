package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Digests: md5() as hexadecimal text, the SHA-2 family as bytes.
final class Digests {
  private Digests() {}

  static long md5(long value, VarHeap heap) {
    return Varlena.of(heap, HexFormat.of().formatHex(digest("MD5", value)));
  }

  /// @param bits 224, 256, 384 or 512
  static long sha(int bits, long value, VarHeap heap) {
    return Varlena.of(heap, digest("SHA-" + bits, value));
  }

  private static byte[] digest(String algorithm, long value) {
    try {
      return MessageDigest.getInstance(algorithm).digest(Varlena.bytes(value));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has " + algorithm, e);
    }
  }
}
