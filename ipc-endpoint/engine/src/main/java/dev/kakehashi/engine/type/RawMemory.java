package dev.kakehashi.engine.type;

import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Loads and stores at absolute native addresses, in the order of the host (which is PostgreSQL's). The caller vouches for the address.
public final class RawMemory {
  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private RawMemory() {}

  public static byte getByte(long address) {
    return VarHeap.MEMORY.get(ValueLayout.JAVA_BYTE, address);
  }

  public static short getShort(long address) {
    return VarHeap.MEMORY.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
  }

  public static int getInt(long address) {
    return VarHeap.MEMORY.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  public static long getLong(long address) {
    return VarHeap.MEMORY.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  /// Eight bytes whose unsigned order is the order of the bytes.
  public static long getLongBigEndian(long address) {
    return VarHeap.MEMORY.get(BIG_ENDIAN, address);
  }

  public static void putByte(long address, byte value) {
    VarHeap.MEMORY.set(ValueLayout.JAVA_BYTE, address, value);
  }

  public static void putShort(long address, short value) {
    VarHeap.MEMORY.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
  }

  public static void putInt(long address, int value) {
    VarHeap.MEMORY.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  public static void putLong(long address, long value) {
    VarHeap.MEMORY.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  public static void putLongBigEndian(long address, long value) {
    VarHeap.MEMORY.set(BIG_ENDIAN, address, value);
  }

  public static void copy(long from, long to, long bytes) {
    MemorySegment.copy(VarHeap.MEMORY, from, VarHeap.MEMORY, to, bytes);
  }

  public static void copy(byte[] from, long to) {
    MemorySegment.copy(from, 0, VarHeap.MEMORY, ValueLayout.JAVA_BYTE, to, from.length);
  }

  public static byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    MemorySegment.copy(VarHeap.MEMORY, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
    return bytes;
  }

  /// Order of two byte strings as unsigned bytes, the shorter first when one begins the other. Long ones let the statement be canceled.
  public static int compareBytes(long a, long aLength, long b, long bLength) {
    long common = Math.min(aLength, bLength);
    int order = 0;
    if (common <= Interrupts.LONG_BYTES) {
      order = comparePart(a, b, common);
    } else {
      for (long at = 0; at < common && order == 0; at += Interrupts.STEPS) {
        Interrupts.check();
        order = comparePart(a + at, b + at, Math.min(common - at, Interrupts.STEPS));
      }
    }
    return order != 0 ? order : Long.compare(aLength, bLength);
  }

  private static int comparePart(long a, long b, long length) {
    long at = 0;
    for (; at + 8 <= length; at += 8) {
      long x = getLongBigEndian(a + at);
      long y = getLongBigEndian(b + at);
      if (x != y) {
        return Long.compareUnsigned(x, y);
      }
    }
    for (; at < length; at++) {
      int difference = (getByte(a + at) & 0xFF) - (getByte(b + at) & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return 0;
  }

  /// Whether two byte strings of one length are equal. Long ones let the statement be canceled.
  public static boolean equalBytes(long a, long b, long length) {
    if (length <= Interrupts.LONG_BYTES) {
      return equalPart(a, b, length);
    }
    boolean equal = true;
    for (long at = 0; at < length && equal; at += Interrupts.STEPS) {
      Interrupts.check();
      equal = equalPart(a + at, b + at, Math.min(length - at, Interrupts.STEPS));
    }
    return equal;
  }

  private static boolean equalPart(long a, long b, long length) {
    long at = 0;
    for (; at + 8 <= length; at += 8) {
      if (getLong(a + at) != getLong(b + at)) {
        return false;
      }
    }
    for (; at < length; at++) {
      if (getByte(a + at) != getByte(b + at)) {
        return false;
      }
    }
    return true;
  }

  /// Hash of a byte string; equal strings hash equally on one host. A long one lets the statement be canceled.
  public static long hashBytes(long address, long length) {
    long hash = length * 0x9E3779B97F4A7C15L;
    long at = 0;
    if (length > Interrupts.LONG_BYTES) {
      for (; at + Interrupts.STEPS <= length; at += Interrupts.STEPS) {
        Interrupts.check();
        hash = hashWords(hash, address + at, Interrupts.STEPS);
      }
      Interrupts.check();
    }
    hash = hashWords(hash, address + at, length - at);
    at = length & -8;
    long tail = 0;
    for (int shift = 0; at < length; at++, shift += 8) {
      tail |= (getByte(address + at) & 0xFFL) << shift;
    }
    return mix(hash ^ tail);
  }

  /// Goes on with the whole words of a byte string.
  private static long hashWords(long before, long address, long length) {
    long hash = before;
    for (long at = 0; at + 8 <= length; at += 8) {
      hash = mix(hash ^ getLong(address + at));
    }
    return hash;
  }

  /// Spreads every bit of a word over the whole word (the finalizer of SplitMix64, Steele et al. 2014).
  public static long mix(long word) {
    long z = word;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
