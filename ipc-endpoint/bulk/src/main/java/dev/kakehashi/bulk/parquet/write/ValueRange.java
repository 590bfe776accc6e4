package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.thrift.Physical;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The least and the greatest value of some values of a leaf, in the order of its type.
///
/// @param min plain, may be shortened; null: there is none, or no short bound
/// @param max plain, may be shortened and then greater
record ValueRange(
    byte @Nullable [] min, byte @Nullable [] max, boolean exactMin, boolean exactMax) {
  /// Longest bound of text.
  private static final int MAX_BOUND_BYTES = 64;

  private static final ValueRange NONE = new ValueRange(null, null, false, false);
  private static final long FLOAT_SIGN = 0x8000_0000L;
  private static final int LAST_BEFORE_SURROGATES = 0xD7FF;
  private static final int FIRST_AFTER_SURROGATES = 0xE000;

  /// Looks at values `from` … `to - 1`.
  static ValueRange of(LeafValues leaf, int from, int to) {
    if (from == to) {
      return NONE;
    }
    return switch (leaf.order) {
      case SIGNED -> signed(leaf, from, to);
      case FLOAT -> floats(leaf, from, to);
      case DOUBLE -> doubles(leaf, from, to);
      case BYTES, TEXT, DECIMAL -> pieces(leaf, from, to);
    };
  }

  private static ValueRange signed(LeafValues leaf, int from, int to) {
    long[] longs = leaf.longs;
    long min = longs[from];
    long max = min;
    for (int i = from + 1; i < to; i++) {
      min = Math.min(min, longs[i]);
      max = Math.max(max, longs[i]);
    }
    return longs(min, max, leaf.physical);
  }

  private static ValueRange longs(long min, long max, int physical) {
    int width = physical == Physical.BOOLEAN ? 1 : Physical.width(physical);
    return new ValueRange(plain(min, width), plain(max, width), true, true);
  }

  private static byte[] plain(long value, int width) {
    byte[] bytes = new byte[width];
    for (int i = 0; i < width; i++) {
      bytes[i] = (byte) (value >>> (8 * i));
    }
    return bytes;
  }

  private static ValueRange floats(LeafValues leaf, int from, int to) {
    float min = Float.POSITIVE_INFINITY;
    float max = Float.NEGATIVE_INFINITY;
    boolean found = false;
    for (int i = from; i < to; i++) {
      float value = Float.intBitsToFloat((int) leaf.longs[i]);
      if (!Float.isNaN(value)) {
        found = true;
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
    }
    if (!found) {
      return NONE;
    }
    // Zeros are equal: the bounds hold both.
    long low = min == 0 ? FLOAT_SIGN : Float.floatToRawIntBits(min);
    return longs(low, max == 0 ? 0 : Float.floatToRawIntBits(max), leaf.physical);
  }

  private static ValueRange doubles(LeafValues leaf, int from, int to) {
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;
    boolean found = false;
    for (int i = from; i < to; i++) {
      double value = Double.longBitsToDouble(leaf.longs[i]);
      if (!Double.isNaN(value)) {
        found = true;
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
    }
    if (!found) {
      return NONE;
    }
    long low = min == 0 ? Long.MIN_VALUE : Double.doubleToRawLongBits(min);
    return longs(low, max == 0 ? 0 : Double.doubleToRawLongBits(max), leaf.physical);
  }

  private static ValueRange pieces(LeafValues leaf, int from, int to) {
    int min = from;
    int max = from;
    for (int i = from + 1; i < to; i++) {
      if (compare(leaf, i, min) < 0) {
        min = i;
      } else if (compare(leaf, i, max) > 0) {
        max = i;
      }
    }
    byte[] least = piece(leaf, min);
    byte[] greatest = piece(leaf, max);
    if (leaf.order == ValueOrder.DECIMAL || leaf.width > 0) {
      return new ValueRange(least, greatest, true, true);
    }
    boolean text = leaf.order == ValueOrder.TEXT;
    byte[] low = shortened(least, text);
    byte[] high =
        greatest.length <= MAX_BOUND_BYTES ? greatest : above(shortened(greatest, text), text);
    return new ValueRange(
        low, high, low.length == least.length, greatest.length <= MAX_BOUND_BYTES);
  }

  private static int compare(LeafValues leaf, int left, int right) {
    byte[] bytes = leaf.bytes.bytes;
    int leftAt = leaf.start(left);
    int rightAt = leaf.start(right);
    if (leaf.order == ValueOrder.DECIMAL && bytes[leftAt] < 0 != bytes[rightAt] < 0) {
      return bytes[leftAt] < 0 ? -1 : 1;
    }
    return Arrays.compareUnsigned(bytes, leftAt, leaf.ends[left], bytes, rightAt, leaf.ends[right]);
  }

  private static byte[] piece(LeafValues leaf, int index) {
    return Arrays.copyOfRange(leaf.bytes.bytes, leaf.start(index), leaf.ends[index]);
  }

  /// The beginning, of whole characters if it is text.
  private static byte[] shortened(byte[] bytes, boolean text) {
    if (bytes.length <= MAX_BOUND_BYTES) {
      return bytes;
    }
    int end = MAX_BOUND_BYTES;
    while (text && end > 0 && (bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return Arrays.copyOf(bytes, end);
  }

  /// The shortest that is greater than all that begin so; null: there is none.
  private static byte @Nullable [] above(byte[] begin, boolean text) {
    if (!text) {
      int end = begin.length;
      while (end > 0 && begin[end - 1] == -1) {
        end--;
      }
      if (end == 0) {
        return null;
      }
      byte[] bound = Arrays.copyOf(begin, end);
      bound[end - 1]++;
      return bound;
    }
    int[] characters =
        new String(begin, java.nio.charset.StandardCharsets.UTF_8).codePoints().toArray();
    for (int i = characters.length - 1; i >= 0; i--) {
      if (characters[i] < Character.MAX_CODE_POINT) {
        characters[i] =
            characters[i] == LAST_BEFORE_SURROGATES ? FIRST_AFTER_SURROGATES : characters[i] + 1;
        return new String(characters, 0, i + 1).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      }
    }
    return null;
  }
}
