package dev.kakehashi.bulk.arrow;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The checksum of LZ4's frames: xxHash of 32 bits with seed 0.
final class XxHash32 {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int PRIME_1 = 0x9E37_79B1;
  private static final int PRIME_2 = 0x85EB_CA77;
  private static final int PRIME_3 = 0xC2B2_AE3D;
  private static final int PRIME_4 = 0x27D4_EB2F;
  private static final int PRIME_5 = 0x1656_67B1;
  private static final int STRIPE = 16;

  private XxHash32() {}

  static int of(byte[] bytes, int from, int length) {
    int at = from;
    int end = from + length;
    int hash;
    if (length >= STRIPE) {
      // The sum of the first two primes, which overflows.
      int a = 0x2423_4428;
      int b = PRIME_2;
      int c = 0;
      int d = -PRIME_1;
      for (; at <= end - STRIPE; at += STRIPE) {
        a = round(a, (int) INTS.get(bytes, at));
        b = round(b, (int) INTS.get(bytes, at + 4));
        c = round(c, (int) INTS.get(bytes, at + 8));
        d = round(d, (int) INTS.get(bytes, at + 12));
      }
      hash =
          Integer.rotateLeft(a, 1)
              + Integer.rotateLeft(b, 7)
              + Integer.rotateLeft(c, 12)
              + Integer.rotateLeft(d, 18);
    } else {
      hash = PRIME_5;
    }
    hash += length;
    for (; at <= end - 4; at += 4) {
      hash = Integer.rotateLeft(hash + (int) INTS.get(bytes, at) * PRIME_3, 17) * PRIME_4;
    }
    for (; at < end; at++) {
      hash = Integer.rotateLeft(hash + (bytes[at] & 0xFF) * PRIME_5, 11) * PRIME_1;
    }
    hash = (hash ^ hash >>> 15) * PRIME_2;
    hash = (hash ^ hash >>> 13) * PRIME_3;
    return hash ^ hash >>> 16;
  }

  private static int round(int lane, int value) {
    return Integer.rotateLeft(lane + value * PRIME_2, 13) * PRIME_1;
  }
}
