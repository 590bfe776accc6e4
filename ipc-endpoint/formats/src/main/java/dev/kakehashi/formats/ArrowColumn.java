package dev.kakehashi.formats;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// The values of one field in the record batch that is being filled: a bitmap of what is there, then the buffers of its kind. Keeps its arrays from batch to batch. Not thread-safe.
abstract sealed class ArrowColumn permits ArrowFixedColumn, ArrowVariableColumn, ArrowListColumn {
  static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /// Takes the buffers of a record batch, in the order of the format.
  interface Buffers {
    void field(int length, int nulls);

    void buffer(byte[] bytes, int length);
  }

  private byte[] present = new byte[64];

  int rows;

  private int nulls;

  static ArrowColumn of(ArrowField field) {
    ArrowField item = field.item();
    if (item != null) {
      return new ArrowListColumn(item);
    }
    return field.width() == 0 ? new ArrowVariableColumn(field) : new ArrowFixedColumn(field);
  }

  /// Appends the rows from `from` to before `to`.
  ///
  /// @throws dev.kakehashi.engine.api.EngineException for a value that Arrow cannot hold; the column is of no use until it is reset
  final void append(BatchView view, int column, int from, int to) throws IOException {
    int total = rows + to - from;
    present = grown(present, (total + 7) >>> 3);
    reserve(total);
    for (int row = from; row < to; row++) {
      long rowAt = view.rowAt(row);
      if (view.isNull(rowAt, column)) {
        nulls++;
        putNull();
      } else {
        present[rows >>> 3] |= (byte) (1 << (rows & 7));
        put(view, view.word(rowAt, column));
      }
      rows++;
    }
  }

  /// Makes room for so many rows in all.
  abstract void reserve(int total);

  /// Puts row number `rows`.
  abstract void put(BatchView view, long word) throws IOException;

  abstract void putNull();

  /// Hands out what follows the bitmap.
  abstract void values(Buffers buffers);

  final void collect(Buffers buffers) {
    buffers.field(rows, nulls);
    buffers.buffer(present, nulls == 0 ? 0 : (rows + 7) >>> 3);
    values(buffers);
  }

  /// Forgets all rows.
  void reset() {
    // One row more may have been begun.
    Arrays.fill(present, 0, Math.min(present.length, (rows + 8) >>> 3), (byte) 0);
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
