package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.Blocks;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.NativeInput;

/// A row in the durable image: the number of its stored columns as varint (not in tables made before that was written), null bits (one per
/// column, whole bytes), then the values that are not null, in order, as [ValueCodec] writes them.
public final class RowCodec {
  private RowCodec() {}

  /// Appends the newest version of a row, or its deletion, to a record.
  ///
  /// @param mostBytes of the row
  /// @return false: it has more bytes, and nothing was appended
  public static boolean encode(Page page, int slot, LogRecord record, long mostBytes) {
    byte[] key = StoreKeys.row(page.form.tableId(), page.rowId(slot));
    if (Stamp.isTombstone(page.stamp(slot))) {
      record.delete(key, key.length);
      return true;
    }
    return encodeRow(page, slot, key, record, mostBytes);
  }

  /// As [#encode], of a transaction that is being prepared.
  public static boolean encodePrepared(
      byte[] transaction, Page page, int slot, LogRecord record, long mostBytes) {
    byte[] key = StoreKeys.preparedRow(transaction, page.form.tableId(), page.rowId(slot));
    if (Stamp.isTombstone(page.stamp(slot))) {
      record.put(key, key.length, 0);
      return true;
    }
    return encodeRow(page, slot, key, record, mostBytes);
  }

  /// Bytes that [#encode] or [#encodePrepared] of a row appends.
  ///
  /// @param keyBytes of its key
  public static long encodedBytes(Page page, int slot, int keyBytes, boolean prepared) {
    if (Stamp.isTombstone(page.stamp(slot))) {
      return prepared ? LogRecord.putBytes(keyBytes, 0) : LogRecord.deleteBytes(keyBytes);
    }
    return LogRecord.putBytes(keyBytes, rowBytes(page, slot));
  }

  private static long rowBytes(Page page, int slot) {
    RowLayout layout = page.form.layout;
    boolean[] live = page.form.live();
    long length =
        nullBytes(live.length)
            + (layout.widthWritten ? (long) LogRecord.varintBytes(live.length) : 0);
    for (int c = 0; c < live.length; c++) {
      if (live[c] && !page.isNull(c, slot)) {
        length += ValueCodec.bytes(layout.kinds[c], page.word(c, slot));
      }
    }
    return length;
  }

  private static int nullBytes(int columns) {
    return (columns + 7) >>> 3;
  }

  private static boolean encodeRow(
      Page page, int slot, byte[] key, LogRecord record, long mostBytes) {
    RowLayout layout = page.form.layout;
    boolean[] live = page.form.live();
    int columns = live.length;
    int nullBytes = nullBytes(columns);
    long length = rowBytes(page, slot);
    if (length > mostBytes) {
      return false;
    }
    record.put(key, key.length, (int) Math.min(length, LogRecord.MAX_BYTES));
    int at = record.reserve((int) Math.min(length, LogRecord.MAX_BYTES));
    byte[] to = record.bytes();
    if (layout.widthWritten) {
      at = ValueCodec.putVarint(columns, to, at);
    }
    int nulls = at;
    java.util.Arrays.fill(to, nulls, nulls + nullBytes, (byte) 0);
    at += nullBytes;
    for (int c = 0; c < columns; c++) {
      if (!live[c] || page.isNull(c, slot)) {
        to[nulls + (c >>> 3)] |= (byte) (1 << (c & 7));
      } else {
        at = ValueCodec.encodeValue(layout.kinds[c], page.word(c, slot), to, at);
      }
    }
    return true;
  }

  /// Reads a row; by-reference values are allocated from the pool. Values of dropped columns are passed over.
  ///
  /// @param live whether a stored column is one of the table; those beyond are not
  /// @throws EngineException DATA_CORRUPTED if the bytes are not a row of this layout
  public static void decode(
      RowLayout layout, boolean[] live, NativeInput value, Blocks pool, RowVersion to) {
    long columns = layout.widthWritten ? ValueCodec.getVarint(value) : layout.columns;
    if (columns < 0 || columns > layout.columns) {
      throw ValueCodec.corrupted(
          "a row has %d columns, its table %d".formatted(columns, layout.columns));
    }
    int nullBytes = ((int) columns + 7) >>> 3;
    ValueCodec.require(value, nullBytes);
    long nulls = value.address();
    value.skip(nullBytes);
    for (int c = 0; c < layout.columns; c++) {
      boolean written = c < columns;
      boolean isNull = written && (Native.getByte(nulls + (c >>> 3)) >>> (c & 7) & 1) != 0;
      if (written && c < live.length && live[c]) {
        to.nulls[c] = isNull;
        to.words[c] =
            isNull ? 0 : ValueCodec.decodeValue(layout.kinds[c], value, pool, layout.shared(c));
      } else {
        to.nulls[c] = layout.isMissingNull(c);
        to.words[c] = layout.missing(c);
        if (written && !isNull) {
          ValueCodec.skipValue(layout.kinds[c], value);
        }
      }
    }
    if (value.remaining() > 0) {
      throw ValueCodec.corrupted("a row is %d bytes too long".formatted(value.remaining()));
    }
  }
}
