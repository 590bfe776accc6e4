package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.Checksum;

/// Digests: md5() as hexadecimal text, the SHA-2 family as bytes.
final class Digests {
  /// Digested between two looks for a cancel.
  private static final int PIECE_BYTES = 1 << 18;

  private Digests() {}

  static long md5(long value, VarHeap heap) {
    return Varlena.of(heap, HexFormat.of().formatHex(digest("MD5", value)));
  }

  /// @param bits 224, 256, 384 or 512
  static long sha(int bits, long value, VarHeap heap) {
    return Varlena.of(heap, digest("SHA-" + bits, value));
  }

  /// A checksum of 32 bits.
  static long checksum(Checksum checksum, long value) {
    byte[] bytes = Varlena.bytes(value);
    for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
      if (from > 0) {
        Interrupts.check();
      }
      checksum.update(bytes, from, Math.min(PIECE_BYTES, bytes.length - from));
    }
    return checksum.getValue();
  }

  private static byte[] digest(String algorithm, long value) {
    try {
      MessageDigest digest = MessageDigest.getInstance(algorithm);
      byte[] bytes = Varlena.bytes(value);
      for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
        if (from > 0) {
          Interrupts.check();
        }
        digest.update(bytes, from, Math.min(PIECE_BYTES, bytes.length - from));
      }
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has " + algorithm, e);
    }
  }
}
