package dev.kakehashi.pgwire.wire;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// Writes rows from the wire's formats into result buffers as row batches (PROTOCOL.md §6), without objects in between.
///
/// Rows grow up from the header, values down from the end of the buffer. Not thread-safe.
public final class WireRows {
  private static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort I16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int VARLENA_HEADER_BYTES = 4;
  private static final int NUMERIC_HEADER_BYTES = 8;

  /// Room asked for at first: the sink may answer with its inline area.
  private static final int FIRST_BYTES = 256;

  /// In a batch of rows without columns, which take no room.
  private static final int MOST_EMPTY_ROWS = 1 << 16;

  private final ResultSink sink;
  private final WireForm[] forms;
  private final int bitmapBytes;
  private final int stride;
  private ResultSink.@Nullable Buffer buffer;
  private MemorySegment memory = MemorySegment.NULL;
  private int capacity;
  private int rowCount;
  private int rowsEnd;
  private int heapStart;
  private long rows;
  private boolean staged;

  /// @param typeOids types of the columns, all of which cross the bridge
  public WireRows(ResultSink sink, int[] typeOids) {
    this.sink = sink;
    this.forms = new WireForm[typeOids.length];
    for (int i = 0; i < typeOids.length; i++) {
      forms[i] = WireForm.of(typeOids[i]);
    }
    this.bitmapBytes = RowBatchLayout.bitmapBytes(forms.length);
    this.stride = RowBatchLayout.rowStride(forms.length);
  }

  /// Adds a row.
  ///
  /// @param from array with the body of a DataRow at `at`
  /// @return false: there is no room until the reader has released some; the row was not added
  /// @throws EngineException LIMIT_EXCEEDED, and what the sink throws
  /// @throws WireException when it is no row of these columns
  public boolean add(byte[] from, int at, int length) {
    int need = stride + heapBytes(from, at, length);
    if (buffer == null || need > heapStart - rowsEnd || rowCount == MOST_EMPTY_ROWS) {
      if (!room(need)) {
        return false;
      }
    }
    write(from, at + 2);
    rowCount++;
    rows++;
    rowsEnd += stride;
    return true;
  }

  /// Rows that were added.
  public long rows() {
    return rows;
  }

  /// Whether the reader may have seen rows.
  public boolean hasStaged() {
    return staged;
  }

  /// Hands over the rows that are left.
  public void finish() {
    if (rowCount > 0) {
      stage();
    } else {
      abandon();
    }
  }

  /// Gives the room back; rows in it are lost.
  public void abandon() {
    ResultSink.Buffer held = buffer;
    if (held != null) {
      buffer = null;
      memory = MemorySegment.NULL;
      rowCount = 0;
      held.discard();
    }
  }

  private void stage() {
    ResultSink.Buffer full = buffer;
    if (full == null) {
      return;
    }
    memory.set(I32, RowBatchLayout.BATCH_BYTES_OFFSET, capacity);
    memory.set(I32, RowBatchLayout.ROW_COUNT_OFFSET, rowCount);
    memory.set(I32, RowBatchLayout.COLUMN_COUNT_OFFSET, forms.length);
    memory.set(I32, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    memory.set(I32, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    memory.set(I32, RowBatchLayout.HEAP_OFFSET_OFFSET, heapStart);
    memory.set(I64, RowBatchLayout.HEAP_OFFSET_OFFSET + 4L, 0);
    buffer = null;
    memory = MemorySegment.NULL;
    int count = rowCount;
    rowCount = 0;
    staged = true;
    full.stage(capacity, count);
  }

  private boolean room(int need) {
    finish();
    long bytes = (long) RowBatchLayout.HEADER_BYTES + need;
    if (bytes > sink.maxBatchBytes()) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "a row of " + bytes + " bytes is longer than a result buffer")
          .withDetail("The longest row batch is " + sink.maxBatchBytes() + " bytes.")
          .withHint("Raise \"max_batch_bytes\" of the endpoint.");
    }
    ResultSink.Buffer next = sink.acquire((int) Math.max(bytes, FIRST_BYTES));
    if (next == null) {
      return false;
    }
    buffer = next;
    memory = next.memory();
    capacity = (int) Math.min(memory.byteSize(), sink.maxBatchBytes()) & ~7;
    rowsEnd = RowBatchLayout.HEADER_BYTES;
    heapStart = capacity;
    return true;
  }

  /// Bytes that the values of a row take on the heap; checks the row.
  private int heapBytes(byte[] from, int start, int length) {
    int end = start + length;
    if (length < 2 || ((from[start] & 0xFF) << 8 | (from[start + 1] & 0xFF)) != forms.length) {
      throw new WireException("the server sent a row of other columns than it had described");
    }
    int at = start + 2;
    long sum = 0;
    for (WireForm form : forms) {
      if (at + 4 > end) {
        throw new WireException("the server sent a row that ends early");
      }
      int bytes = intAt(from, at);
      at += 4;
      if (bytes < 0) {
        continue;
      }
      boolean fits =
          form.bytes() == 0
              ? form != WireForm.NUMERIC || bytes >= NUMERIC_HEADER_BYTES
              : bytes == form.bytes();
      if (!fits || bytes > end - at) {
        throw new WireException(
            "the server sent a value of " + bytes + " bytes that does not fit its type");
      }
      if (form == WireForm.NUMERIC) {
        sum += align(VARLENA_HEADER_BYTES + numericBytes(from, at, bytes));
      } else if (form.byReference()) {
        sum += form.bytes() > 0 ? form.bytes() : align(VARLENA_HEADER_BYTES + bytes);
      }
      at += bytes;
    }
    if (sum > Integer.MAX_VALUE - (1 << 20)) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "a row of " + sum + " bytes is too long");
    }
    return (int) sum;
  }

  private static long align(long bytes) {
    return (bytes + 7) & ~7L;
  }

  private void write(byte[] from, int start) {
    int at = start;
    for (int word = 0; word < bitmapBytes; word += 8) {
      memory.set(I64, rowsEnd + (long) word, 0);
    }
    for (int column = 0; column < forms.length; column++) {
      int bytes = intAt(from, at);
      at += 4;
      long word = rowsEnd + bitmapBytes + 8L * column;
      if (bytes < 0) {
        long bitmap = rowsEnd + ((long) (column >>> 6) << 3);
        memory.set(I64, bitmap, memory.get(I64, bitmap) | 1L << (column & 63));
        memory.set(I64, word, 0);
        continue;
      }
      memory.set(
          I64,
          word,
          switch (forms[column]) {
            case BOOL -> from[at] != 0 ? 1 : 0;
            case INT2 -> shortAt(from, at);
            case INT4 -> intAt(from, at);
            case FLOAT4 -> intAt(from, at) & 0xFFFF_FFFFL;
            case INT8 -> longAt(from, at);
            case UUID -> uuid(from, at);
            case INTERVAL -> interval(from, at);
            case NUMERIC -> numeric(from, at, bytes);
            case BYTES, TEXT -> varlena(from, at, bytes);
          });
      at += bytes;
    }
  }

  private long uuid(byte[] from, int at) {
    heapStart -= 16;
    MemorySegment.copy(from, at, memory, ValueLayout.JAVA_BYTE, heapStart, 16);
    return heapStart;
  }

  private long interval(byte[] from, int at) {
    heapStart -= 16;
    memory.set(I64, heapStart, longAt(from, at));
    memory.set(I32, heapStart + 8L, intAt(from, at + 8));
    memory.set(I32, heapStart + 12L, intAt(from, at + 12));
    return heapStart;
  }

  private long varlena(byte[] from, int at, int bytes) {
    int whole = VARLENA_HEADER_BYTES + bytes;
    reserve(whole);
    memory.set(I32, heapStart, whole << 2);
    MemorySegment.copy(
        from, at, memory, ValueLayout.JAVA_BYTE, heapStart + (long) VARLENA_HEADER_BYTES, bytes);
    return heapStart;
  }

  /// Takes room for a value; what is behind it up to a multiple of 8 is zero.
  private void reserve(int bytes) {
    int aligned = (int) align(bytes);
    heapStart -= aligned;
    memory.set(I64, heapStart + aligned - 8L, 0);
  }

  // ---- numeric: see PgNumeric for the form in memory ----

  private static boolean isSpecial(byte[] from, int at) {
    return (from[at + 4] & 0xC0) == 0xC0;
  }

  private static boolean isShort(byte[] from, int at) {
    int weight = shortAt(from, at + 2);
    return shortAt(from, at + 6) <= 63 && weight >= -64 && weight <= 63;
  }

  private static int numericBytes(byte[] from, int at, int bytes) {
    int digits = shortAt(from, at) & 0xFFFF;
    if (bytes != NUMERIC_HEADER_BYTES + 2 * digits) {
      throw new WireException("the server sent a numeric that ends early");
    }
    return isSpecial(from, at) ? 2 : (isShort(from, at) ? 2 : 4) + 2 * digits;
  }

  private long numeric(byte[] from, int at, int bytes) {
    int payload = numericBytes(from, at, bytes);
    reserve(VARLENA_HEADER_BYTES + payload);
    memory.set(I32, heapStart, (VARLENA_HEADER_BYTES + payload) << 2);
    long to = heapStart + (long) VARLENA_HEADER_BYTES;
    int weight = shortAt(from, at + 2);
    int sign = shortAt(from, at + 4) & 0xFFFF;
    int scale = shortAt(from, at + 6);
    if (isSpecial(from, at)) {
      memory.set(I16, to, (short) sign);
      return heapStart;
    }
    if (isShort(from, at)) {
      int header =
          0x8000
              | (sign != 0 ? 0x2000 : 0)
              | scale << 7
              | (weight < 0 ? 0x40 : 0)
              | (weight & 0x3F);
      memory.set(I16, to, (short) header);
      to += 2;
    } else {
      memory.set(I16, to, (short) ((sign & 0x4000) | (scale & 0x3FFF)));
      memory.set(I16, to + 2, (short) weight);
      to += 4;
    }
    for (int digit = at + NUMERIC_HEADER_BYTES; digit < at + bytes; digit += 2) {
      memory.set(I16, to, (short) shortAt(from, digit));
      to += 2;
    }
    return heapStart;
  }

  private static int shortAt(byte[] from, int at) {
    return (short) ((from[at] & 0xFF) << 8 | (from[at + 1] & 0xFF));
  }

  private static int intAt(byte[] from, int at) {
    return from[at] << 24
        | (from[at + 1] & 0xFF) << 16
        | (from[at + 2] & 0xFF) << 8
        | (from[at + 3] & 0xFF);
  }

  private static long longAt(byte[] from, int at) {
    return (long) intAt(from, at) << 32 | (intAt(from, at + 4) & 0xFFFF_FFFFL);
  }
}
