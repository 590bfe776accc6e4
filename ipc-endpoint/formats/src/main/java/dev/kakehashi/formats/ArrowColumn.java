package dev.kakehashi.formats;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// The values of one field in the record batch that is being filled: a bitmap of what is there, then the buffers of its kind. Keeps its
/// arrays from batch to batch. Not thread-safe.
public abstract sealed class ArrowColumn
    permits ArrowFixedColumn, ArrowVariableColumn, ArrowListColumn {
  static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /// Takes the buffers of a record batch, in the order of the format.
  public interface Buffers {
    void field(int length, int nulls);

    void buffer(byte[] bytes, int length);
  }

  private byte[] present = new byte[64];

  int rows;

  /// Rows that may have left bytes behind: more than `rows` after an error.
  int begun;

  private int nulls;

  /// Hint for a value that Arrow cannot hold. A dump has an option for it, an answer has none.
  static final String MISSING_HINT =
      "Cast the column to text, or dump it with infinity text or infinity null.";

  /// @param missingIsNull whether a value that Arrow cannot hold becomes null; otherwise it is an error
  public static ArrowColumn of(ArrowField field, boolean missingIsNull) {
    ArrowField item = field.item();
    if (item != null) {
      return new ArrowListColumn(item, missingIsNull);
    }
    return field.width() == 0
        ? new ArrowVariableColumn(field)
        : new ArrowFixedColumn(field, missingIsNull);
  }

  /// Appends the rows from `from` to before `to`.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException for a value that Arrow cannot hold; the column is of no use until it is reset
  public final void append(BatchView view, int column, int from, int to) throws IOException {
    int total = rows + to - from;
    present = grown(present, (total + 7) >>> 3);
    reserve(total);
    begun = total;
    boolean anyNull = noteNulls(view, column, from, to);
    putAll(view, column, from, to, anyNull);
    rows = total;
  }

  private boolean noteNulls(BatchView view, int column, int from, int to) {
    if (!view.hasNulls(column)) {
      setPresent(rows, rows + to - from);
      return false;
    }
    MemorySegment memory = view.memory();
    long at = view.rowAt(from) + ((long) (column >>> 6) << 3);
    int stride = view.stride();
    int bit = column & 63;
    int target = rows;
    int found = 0;
    for (int row = from; row < to; row++) {
      int isNull = (int) (memory.get(BatchView.I64, at) >>> bit) & 1;
      found += isNull;
      present[target >>> 3] |= (byte) ((isNull ^ 1) << (target & 7));
      target++;
      at += stride;
    }
    nulls += found;
    return found > 0;
  }

  private void setPresent(int from, int to) {
    int row = from;
    for (; row < to && (row & 7) != 0; row++) {
      present[row >>> 3] |= (byte) (1 << (row & 7));
    }
    int whole = Math.max(row, to & ~7);
    Arrays.fill(present, row >>> 3, whole >>> 3, (byte) -1);
    for (row = whole; row < to; row++) {
      present[row >>> 3] |= (byte) (1 << (row & 7));
    }
  }

  /// Makes a row null that has been noted as one that is there.
  final void makeNull(int row) {
    present[row >>> 3] &= (byte) ~(1 << (row & 7));
    nulls++;
  }

  /// Whether a row is there.
  final boolean isPresent(int row) {
    return (present[row >>> 3] >>> (row & 7) & 1) != 0;
  }

  /// Makes room for so many rows in all.
  abstract void reserve(int total);

  /// Puts the values of row number `rows` and those after it.
  ///
  /// @param anyNull whether some of them are null: [#isPresent]
  abstract void putAll(BatchView view, int column, int from, int to, boolean anyNull)
      throws IOException;

  /// Hands out what follows the bitmap.
  abstract void values(Buffers buffers);

  /// Hands out what there is; the arrays hold until the next rows.
  public final void collect(Buffers buffers) {
    buffers.field(rows, nulls);
    buffers.buffer(present, nulls == 0 ? 0 : (rows + 7) >>> 3);
    values(buffers);
  }

  /// Forgets all rows.
  public void reset() {
    Arrays.fill(present, 0, (begun + 7) >>> 3, (byte) 0);
    begun = 0;
    rows = 0;
    nulls = 0;
  }

  /// An array of at least so many bytes with the same beginning.
  static byte[] grown(byte[] bytes, long needed) {
    if (needed <= bytes.length) {
      return bytes;
    }
    if (needed > Integer.MAX_VALUE - 8) {
      throw new OutOfMemoryError("record batch of " + needed + " bytes");
    }
    return Arrays.copyOf(
        bytes, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, 2L * bytes.length)));
  }
}
