package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;

/// Values of a leaf in a row group, without nulls: longs, or pieces of bytes one after the other. Not thread-safe.
final class LeafValues implements AutoCloseable {
  private static final int FIRST_VALUES = 1 << 10;
  private static final int MAX_VALUES = 1 << 28;
  final int physical;

  /// Bytes of a FIXED value.
  final int width;

  final ValueOrder order;
  final boolean isLong;
  private final BulkContext context;
  long[] longs = {};

  /// Where each piece ends in `bytes`.
  int[] ends = {};

  final ByteSpace bytes;
  int count;

  LeafValues(int physical, int width, ValueOrder order, BulkContext context) {
    this.physical = physical;
    this.width = width;
    this.order = order;
    this.isLong = physical != Physical.BYTE_ARRAY && physical != Physical.FIXED;
    this.context = context;
    this.bytes = new ByteSpace(context);
  }

  /// Makes room for so many values more.
  void need(int more) {
    int room = isLong ? longs.length : ends.length;
    if (more <= room - count) {
      return;
    }
    long wanted = (long) count + more;
    if (wanted > MAX_VALUES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a row group has more than " + MAX_VALUES + " values");
    }
    int size = (int) Math.max(FIRST_VALUES, Math.max(wanted, Math.min(MAX_VALUES, 2L * room)));
    if (isLong) {
      context.reserveMemory(8L * (size - room));
      longs = Arrays.copyOf(longs, size);
    } else {
      context.reserveMemory(4L * (size - room));
      ends = Arrays.copyOf(ends, size);
    }
  }

  /// Ends the piece that was added to the bytes.
  void endPiece() {
    ends[count++] = bytes.length;
  }

  int start(int index) {
    return index == 0 ? 0 : ends[index - 1];
  }

  /// Bytes of values in plain encoding.
  long plainBytes(int from, int to) {
    if (from == to) {
      return 0;
    }
    return switch (physical) {
      case Physical.BOOLEAN -> (to - from + 7L) / 8;
      case Physical.INT32, Physical.FLOAT -> 4L * (to - from);
      case Physical.INT64, Physical.DOUBLE -> 8L * (to - from);
      case Physical.FIXED -> (long) width * (to - from);
      default -> 4L * (to - from) + ends[to - 1] - start(from);
    };
  }

  /// Writes values in plain encoding.
  void putPlain(ByteSpace out, int from, int to) {
    out.need(plainBytes(from, to) + Long.BYTES);
    switch (physical) {
      case Physical.BOOLEAN -> putBits(out, from, to);
      case Physical.INT32, Physical.FLOAT -> {
        for (int i = from; i < to; i++) {
          ByteSpace.INTS.set(out.bytes, out.length, (int) longs[i]);
          out.length += Integer.BYTES;
        }
      }
      case Physical.INT64, Physical.DOUBLE -> {
        for (int i = from; i < to; i++) {
          ByteSpace.LONGS.set(out.bytes, out.length, longs[i]);
          out.length += Long.BYTES;
        }
      }
      case Physical.FIXED -> {
        int begin = from * width;
        out.put(bytes.bytes, begin, (to - from) * width);
      }
      default -> {
        for (int i = from; i < to; i++) {
          putPiece(out, i);
        }
      }
    }
  }

  /// Writes one value in plain encoding.
  void putPlain(ByteSpace out, int index) {
    switch (physical) {
      case Physical.BYTE_ARRAY -> {
        out.need(Integer.BYTES + (long) ends[index] - start(index));
        putPiece(out, index);
      }
      default -> putPlain(out, index, index + 1);
    }
  }

  private void putPiece(ByteSpace out, int index) {
    int start = start(index);
    int length = ends[index] - start;
    ByteSpace.INTS.set(out.bytes, out.length, length);
    System.arraycopy(bytes.bytes, start, out.bytes, out.length + Integer.BYTES, length);
    out.length += Integer.BYTES + length;
  }

  private void putBits(ByteSpace out, int from, int to) {
    for (int i = from; i < to; i += 8) {
      int bits = 0;
      for (int bit = 0; bit < 8 && i + bit < to; bit++) {
        bits |= (int) longs[i + bit] << bit;
      }
      out.bytes[out.length++] = (byte) bits;
    }
  }

  /// Bytes that are held.
  long heldBytes() {
    return isLong ? 8L * count : 4L * count + bytes.length;
  }

  void clear() {
    count = 0;
    bytes.length = 0;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory(8L * longs.length + 4L * ends.length);
    longs = new long[0];
    ends = new int[0];
    count = 0;
    bytes.close();
  }
}
