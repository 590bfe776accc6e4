package dev.kakehashi.bulk.parquet.read;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Reads small numbers written as runs and packed bits (Parquet's RLE hybrid), some at a time. Not thread-safe.
///
/// The array has to have 8 bytes more than are read.
final class HybridDecoder {
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MAX_BITS = 32;
  private static final int GROUP = 8;
  private byte[] bytes = {};
  private int at;
  private int end;
  private int bits;
  private long mask;

  /// Values that are left of the run.
  private long left;

  private boolean packed;
  private int value;

  /// Where the next packed value is, in bits from `at` on.
  private long bitAt;

  /// @param width bits of a number, up to 32
  void open(byte[] source, int from, int to, int width) {
    if (width < 0 || width > MAX_BITS) {
      throw Damage.of("numbers of " + width + " bits");
    }
    bytes = source;
    at = from;
    end = to;
    bits = width;
    mask = (1L << width) - 1;
    left = 0;
  }

  /// Reads the next numbers.
  void read(int[] into, int from, int count) {
    int next = from;
    int last = from + count;
    while (next < last) {
      if (left == 0) {
        beginRun();
      }
      int taken = (int) Math.min(left, last - next);
      if (packed) {
        unpack(into, next, taken);
      } else {
        Arrays.fill(into, next, next + taken, value);
      }
      next += taken;
      left -= taken;
      endRun();
    }
  }

  /// Reads the next levels.
  ///
  /// @param max that they may be
  /// @return how many are `max`
  int readLevels(byte[] into, int from, int count, int max) {
    int next = from;
    int last = from + count;
    int found = 0;
    while (next < last) {
      if (left == 0) {
        beginRun();
      }
      int taken = (int) Math.min(left, last - next);
      if (packed) {
        found += unpackLevels(into, next, taken, max);
      } else {
        if (value > max) {
          throw Damage.of("a level is too high");
        }
        Arrays.fill(into, next, next + taken, (byte) value);
        found += value == max ? taken : 0;
      }
      next += taken;
      left -= taken;
      endRun();
    }
    return found;
  }

  private void endRun() {
    if (left == 0 && packed) {
      at += (int) Math.min(end - (long) at, (bitAt + 7) >>> 3);
    }
  }

  private void beginRun() {
    long header = varint();
    packed = (header & 1) != 0;
    left = header >>> 1;
    if (left == 0) {
      throw Damage.of("a run without values");
    }
    if (packed) {
      left *= GROUP;
      bitAt = 0;
      return;
    }
    int width = (bits + 7) >>> 3;
    if (end - at < width) {
      throw Damage.shortPage();
    }
    value = 0;
    for (int i = 0; i < width; i++) {
      value |= (bytes[at++] & 0xFF) << (8 * i);
    }
  }

  private long varint() {
    long number = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      if (at >= end) {
        throw Damage.shortPage();
      }
      int each = bytes[at++];
      number |= (long) (each & 0x7F) << shift;
      if (each >= 0) {
        return number & 0xFFFF_FFFFL;
      }
    }
    throw Damage.of("a number that is too long");
  }

  /// The last group of a page may be cut off after the last value that is needed.
  private void checkPacked(int count) {
    if (bitAt + (long) count * bits > 8L * (end - at)) {
      throw Damage.shortPage();
    }
  }

  private void unpack(int[] into, int from, int count) {
    checkPacked(count);
    long bit = bitAt;
    byte[] source = bytes;
    int base = at;
    long ones = mask;
    int width = bits;
    for (int i = from; i < from + count; i++) {
      long word = (long) LONGS.get(source, base + (int) (bit >>> 3));
      into[i] = (int) (word >>> (bit & 7) & ones);
      bit += width;
    }
    bitAt = bit;
  }

  private int unpackLevels(byte[] into, int from, int count, int max) {
    checkPacked(count);
    long bit = bitAt;
    int found = 0;
    int highest = 0;
    for (int i = from; i < from + count; i++) {
      long word = (long) LONGS.get(bytes, at + (int) (bit >>> 3));
      int level = (int) (word >>> (bit & 7) & mask);
      into[i] = (byte) level;
      found += level == max ? 1 : 0;
      highest = Math.max(highest, level);
      bit += bits;
    }
    if (highest > max) {
      throw Damage.of("a level is too high");
    }
    bitAt = bit;
    return found;
  }
}
