package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// md5() as hexadecimal text.
final class Digests {
  private Digests() {}

  static long md5(long value, VarHeap heap) {
    try {
      byte[] digest = MessageDigest.getInstance("MD5").digest(Varlena.bytes(value));
      return Varlena.of(heap, HexFormat.of().formatHex(digest));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }
}
