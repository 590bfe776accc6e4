package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowShape.Layout;
import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.Arrays;
import java.util.List;

/// Decodes some rows of one field of record batches. Not thread-safe.
///
/// Offsets, views and indices are checked here: starts and lengths of the values lie within their bytes.
final class ArrowDecoder implements AutoCloseable {
  private static final int VIEW_BYTES = 16;
  private static final int INLINE_BYTES = 12;
  private static final int INTERVAL_BYTES = 16;
  private static final long MILLIS_PER_DAY = 86_400_000L;

  /// Bytes of memory for an element of a list: its long, start, length, presence.
  private static final int ITEM_BYTES = 17;

  private final FileValues values;
  private final BulkContext context;
  private byte[] scratch = {};
  private long reserved;

  ArrowDecoder(FileValues values, BulkContext context) {
    this.values = values;
    this.context = context;
  }

  FileValues values() {
    return values;
  }

  /// Decodes rows `from` … of a field.
  ///
  /// @param dictionary of the field, if it has one
  /// @throws dev.kakehashi.engine.api.error.EngineException BAD_COPY_FILE_FORMAT
  void decode(
      ArrowColumnData data,
      int from,
      int count,
      @org.jspecify.annotations.Nullable FileValues dictionary) {
    values.begin(count);
    if (data.shape().batchLayout() == Layout.NULL) {
      return;
    }
    presence(data, from, count, values);
    if (data.shape().hasDictionary()) {
      if (dictionary == null) {
        throw ArrowSource.bad("lacks the dictionary of column \"" + data.shape().name() + "\"");
      }
      indices(data, from, count, dictionary);
    } else if (values.type().storage() == Storage.LIST) {
      lists(data, from, count);
    } else {
      scalars(data, from, count, values);
    }
  }

  private static void presence(ArrowColumnData data, int from, int count, FileValues into) {
    if (data.nulls() == 0 || data.buffers().isEmpty()) {
      return;
    }
    byte[] present = into.markNulls();
    ArrowSlice bits = data.buffers().getFirst();
    bits(bits, from, count, present);
  }

  private static void bits(ArrowSlice bits, int from, int count, byte[] into) {
    byte[] bytes = bits.bytes();
    int start = bits.start();
    for (int i = 0, bit = from; i < count; i++, bit++) {
      into[i] = (byte) (bytes[start + (bit >>> 3)] >>> (bit & 7) & 1);
    }
  }

  private void scalars(ArrowColumnData data, int from, int count, FileValues into) {
    Kind kind = into.type().kind();
    switch (data.shape().layout()) {
      case BITS -> {
        ArrowSlice bits = data.buffers().get(1);
        long[] longs = into.longs();
        for (int i = 0, bit = from; i < count; i++, bit++) {
          int value = bits.bytes()[bits.start() + (bit >>> 3)] >>> (bit & 7) & 1;
          longs[i] = value;
        }
      }
      case OFFSETS_32 -> offsets(data, from, count, into, Integer.BYTES, data.buffers().get(2));
      case OFFSETS_64 -> offsets(data, from, count, into, Long.BYTES, data.buffers().get(2));
      case VIEW -> views(data, from, count, into);
      case STRUCT -> intervals(data, from, count, into);
      default -> {
        if (kind.storage() == Storage.LONG) {
          longs(data, from, count, into);
        } else {
          int width = data.shape().width();
          ArrowSlice slice = data.buffers().get(1);
          into.setBytes(slice.bytes());
          int start = slice.start() + from * width;
          for (int i = 0; i < count; i++) {
            into.starts()[i] = start;
            into.lengths()[i] = width;
            start += width;
          }
        }
      }
    }
  }

  private static void longs(ArrowColumnData data, int from, int count, FileValues into) {
    ArrowSlice slice = data.buffers().get(1);
    int width = data.shape().width();
    byte[] bytes = slice.bytes();
    int at = slice.start() + from * width;
    long[] longs = into.longs();
    Kind kind = into.type().kind();
    switch (kind) {
      case FLOAT -> floats(bytes, at, width, count, longs);
      case DATE -> {
        if (width == Integer.BYTES) {
          integers(bytes, at, width, count, longs, true);
        } else {
          integers(bytes, at, width, count, longs, true);
          for (int i = 0; i < count; i++) {
            if (longs[i] % MILLIS_PER_DAY != 0 && !into.isNull(i)) {
              throw ArrowSource.bad("has a date with a time of day");
            }
            longs[i] = Math.floorDiv(longs[i], MILLIS_PER_DAY);
          }
        }
      }
      case DECIMAL -> {
        integers(bytes, at, Math.min(width, Long.BYTES), width, count, longs, true);
        for (int i = 0; width > Long.BYTES && i < count; i++) {
          checkSign(bytes, at + i * width, width, longs[i], into.isNull(i));
        }
      }
      default -> integers(bytes, at, width, count, longs, kind != Kind.UINT);
    }
  }

  private static void checkSign(byte[] bytes, int at, int width, long low, boolean isNull) {
    long sign = low >> 63;
    for (int i = Long.BYTES; i < width; i += Long.BYTES) {
      if (ArrowSlice.i64(bytes, at + i) != sign && !isNull) {
        throw ArrowSource.bad("has a decimal of more digits than its type");
      }
    }
  }

  private static void floats(byte[] bytes, int from, int width, int count, long[] into) {
    int at = from;
    for (int i = 0; i < count; i++) {
      into[i] =
          switch (width) {
            case 2 ->
                Double.doubleToRawLongBits(Float.float16ToFloat((short) ArrowSlice.i16(bytes, at)));
            case 4 -> Double.doubleToRawLongBits(Float.intBitsToFloat(ArrowSlice.i32(bytes, at)));
            default -> ArrowSlice.i64(bytes, at);
          };
      at += width;
    }
  }

  private static void integers(
      byte[] bytes, int from, int width, int count, long[] into, boolean signed) {
    integers(bytes, from, width, width, count, into, signed);
  }

  private static void integers(
      byte[] bytes, int from, int width, int step, int count, long[] into, boolean signed) {
    int at = from;
    switch (width) {
      case 1 -> {
        long mask = signed ? -1 : 0xFF;
        for (int i = 0; i < count; i++, at += step) {
          into[i] = bytes[at] & mask;
        }
      }
      case 2 -> {
        long mask = signed ? -1 : 0xFFFF;
        for (int i = 0; i < count; i++, at += step) {
          into[i] = ArrowSlice.i16(bytes, at) & mask;
        }
      }
      case 4 -> {
        long mask = signed ? -1 : 0xFFFF_FFFFL;
        for (int i = 0; i < count; i++, at += step) {
          into[i] = ArrowSlice.i32(bytes, at) & mask;
        }
      }
      default -> {
        for (int i = 0; i < count; i++, at += step) {
          into[i] = ArrowSlice.i64(bytes, at);
        }
      }
    }
  }

  /// Values between offsets into bytes.
  private static void offsets(
      ArrowColumnData data, int from, int count, FileValues into, int width, ArrowSlice bytes) {
    ranges(data, from, count, into, width, bytes.length(), bytes.start());
    into.setBytes(bytes.bytes());
  }

  /// Starts and lengths from offsets, which have to ascend from 0 to the limit.
  ///
  /// @param base that is added to the starts
  private static void ranges(
      ArrowColumnData data, int from, int count, FileValues into, int width, int limit, int base) {
    if (count == 0) {
      return;
    }
    ArrowSlice slice = data.buffers().get(1);
    byte[] bytes = slice.bytes();
    int at = slice.start() + from * width;
    int[] starts = into.starts();
    int[] lengths = into.lengths();
    long begin = width == Integer.BYTES ? ArrowSlice.i32(bytes, at) : ArrowSlice.i64(bytes, at);
    boolean ascending = begin >= 0;
    for (int i = 0; i < count; i++) {
      at += width;
      long end = width == Integer.BYTES ? ArrowSlice.i32(bytes, at) : ArrowSlice.i64(bytes, at);
      ascending &= end >= begin;
      starts[i] = base + (int) begin;
      lengths[i] = (int) (end - begin);
      begin = end;
    }
    if (!ascending || begin > limit) {
      throw ArrowSource.bad("has wrong offsets in column \"" + data.shape().name() + "\"");
    }
  }

  private void views(ArrowColumnData data, int from, int count, FileValues into) {
    ArrowSlice views = data.buffers().get(1);
    long total = 0;
    for (int i = 0; i < count; i++) {
      int length = into.isNull(i) ? 0 : viewLength(views, from + i);
      if (length < 0) {
        throw wrongView(data);
      }
      into.lengths()[i] = length;
      total += length;
    }
    room(total);
    int filled = 0;
    for (int i = 0; i < count; i++) {
      int length = into.lengths()[i];
      int at = views.start() + VIEW_BYTES * (from + i);
      if (length <= INLINE_BYTES) {
        System.arraycopy(views.bytes(), at + 4, scratch, filled, length);
      } else {
        int index = ArrowSlice.i32(views.bytes(), at + 8);
        int offset = ArrowSlice.i32(views.bytes(), at + 12);
        if (index < 0 || index >= data.buffers().size() - 2 || offset < 0) {
          throw wrongView(data);
        }
        ArrowSlice bytes = data.buffers().get(index + 2);
        if (length > bytes.length() - offset) {
          throw wrongView(data);
        }
        System.arraycopy(bytes.bytes(), bytes.start() + offset, scratch, filled, length);
      }
      into.starts()[i] = filled;
      filled += length;
    }
    into.setBytes(scratch);
  }

  private static int viewLength(ArrowSlice views, int index) {
    return ArrowSlice.i32(views.bytes(), views.start() + VIEW_BYTES * index);
  }

  private static RuntimeException wrongView(ArrowColumnData data) {
    return ArrowSource.bad("has a wrong view in column \"" + data.shape().name() + "\"");
  }

  private void room(long bytes) {
    if (bytes <= scratch.length) {
      return;
    }
    if (bytes > Integer.MAX_VALUE - 16) {
      throw ArrowSource.bad("has values of " + bytes + " bytes in a few rows");
    }
    context.reserveMemory(bytes);
    reserved += bytes;
    scratch = new byte[(int) bytes];
  }

  private void intervals(ArrowColumnData data, int from, int count, FileValues into) {
    room((long) INTERVAL_BYTES * count);
    List<ArrowColumnData> parts = data.children();
    FileValues[] decoded = new FileValues[parts.size()];
    for (int i = 0; i < decoded.length; i++) {
      ArrowColumnData part = parts.get(i);
      decoded[i] = new FileValues(ArrowSchemas.required(part.shape().type()));
      decoded[i].begin(count);
      presence(part, from, count, decoded[i]);
      longs(part, from, count, decoded[i]);
    }
    for (int i = 0; i < count; i++) {
      int at = INTERVAL_BYTES * i;
      for (FileValues part : decoded) {
        if (part.isNull(i) && !into.isNull(i)) {
          throw ArrowSource.bad("has an interval with a null in it");
        }
      }
      ArrowSlice.putI32(scratch, at, (int) decoded[0].longs()[i]);
      ArrowSlice.putI32(scratch, at + 4, (int) decoded[1].longs()[i]);
      ArrowSlice.putI64(scratch, at + 8, decoded[2].longs()[i]);
      into.starts()[i] = at;
      into.lengths()[i] = INTERVAL_BYTES;
    }
    into.setBytes(scratch);
  }

  private void lists(ArrowColumnData data, int from, int count) {
    ArrowColumnData child = data.children().getFirst();
    int[] starts = values.starts();
    switch (data.shape().layout()) {
      case LIST_32 -> ranges(data, from, count, values, Integer.BYTES, child.rows(), 0);
      case LIST_64 -> ranges(data, from, count, values, Long.BYTES, child.rows(), 0);
      default -> {
        int size = data.shape().width();
        for (int i = 0; i < count; i++) {
          starts[i] = (from + i) * size;
          values.lengths()[i] = size;
        }
      }
    }
    int first = count == 0 ? 0 : starts[0];
    int items = count == 0 ? 0 : starts[count - 1] + values.lengths()[count - 1] - first;
    long bytes = (long) ITEM_BYTES * items;
    if (bytes > reserved) {
      context.reserveMemory(bytes - reserved);
      reserved = bytes;
    }
    for (int i = 0; i < count; i++) {
      starts[i] -= first;
    }
    FileValues into = values.items();
    into.begin(items);
    if (child.shape().batchLayout() != Layout.NULL) {
      presence(child, first, items, into);
      scalars(child, first, items, into);
    }
  }

  private void indices(ArrowColumnData data, int from, int count, FileValues dictionary) {
    ArrowSlice slice = data.buffers().get(1);
    int width = data.shape().indexWidth();
    long[] indices = new long[count];
    integers(
        slice.bytes(),
        slice.start() + from * width,
        width,
        count,
        indices,
        data.shape().indexSigned());
    boolean isLong = values.type().storage() == Storage.LONG;
    values.setBytes(dictionary.bytes());
    for (int i = 0; i < count; i++) {
      boolean isNull = values.isNull(i);
      long index = isNull ? 0 : indices[i];
      if (index < 0 || index >= dictionary.count()) {
        if (!isNull) {
          throw ArrowSource.bad(
              "has index %d into a dictionary of %d values".formatted(index, dictionary.count()));
        }
        setNothing(i, isLong);
      } else if (dictionary.isNull((int) index)) {
        makeNull(i, count);
        setNothing(i, isLong);
      } else if (isLong) {
        values.longs()[i] = dictionary.longs()[(int) index];
      } else {
        values.starts()[i] = dictionary.starts()[(int) index];
        values.lengths()[i] = dictionary.lengths()[(int) index];
      }
    }
  }

  private void setNothing(int index, boolean isLong) {
    if (isLong) {
      values.longs()[index] = 0;
    } else {
      values.starts()[index] = 0;
      values.lengths()[index] = 0;
    }
  }

  private void makeNull(int index, int count) {
    if (!values.hasNulls()) {
      Arrays.fill(values.markNulls(), 0, count, (byte) 1);
    }
    values.present()[index] = 0;
  }

  /// Gives the memory back.
  @Override
  public void close() {
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
