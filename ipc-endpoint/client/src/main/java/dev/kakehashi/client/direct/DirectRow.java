package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.layout.StoreDictionaryLayout;
import dev.kakehashi.protocol.layout.StorePageColumnLayout;
import dev.kakehashi.protocol.layout.StorePageLayout;
import dev.kakehashi.protocol.layout.StoreTableLayout;
import dev.kakehashi.protocol.messages.ValueKind;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// From a row's number to its values: the newest version, if it is committed. Older ones a request finds. One thread.
final class DirectRow {
  private static final int SLOT_BITS = 16;
  private static final int WORD_BYTES = 8;

  // Bits of a stamp.
  private static final long IN_FLIGHT = 1L << 63;
  private static final long TOMBSTONE = 1L << 62;
  private static final long TIMESTAMP = TOMBSTONE - 1;

  // Low bits of the word of a value that is not in the word's place.
  private static final int TAG = 7;
  private static final int OWN_ADDRESS = 0;
  private static final int INLINE_BYTES = 1;
  private static final int INLINE_NUMERIC = 2;
  private static final int SHARED = 4;
  private static final int CODE_SHIFT = 3;
  private static final int INLINE_COUNT_SHIFT = 3;
  private static final int INLINE_SHIFT = 8;

  private static final int VARLENA_HEADER_BYTES = 4;
  private static final int FIXED_BYTES = 16;

  /// Longest value that lies in shared memory, with its header.
  private static final int MOST_VALUE_BYTES = 32 * 1024;

  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort I16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final MemorySegment memory;
  private final long there;
  private long limit;

  /// Offset of the page of the row, whose version has been noted.
  private long page;

  private int slot;

  /// Timestamp of what was seen; see [#read].
  private long newest;

  // The value that was looked for last: null, a word, or bytes.
  private boolean isNull;
  private long word;
  private MemorySegment bytes;
  private long at;
  private int length;

  /// A value that lies in its word, as bytes.
  private final MemorySegment inlined = MemorySegment.ofArray(new byte[InlineNumeric.MOST_BYTES]);

  DirectRow(StoreMemory store) {
    this.memory = store.memory();
    this.there = store.there();
    this.bytes = memory;
  }

  /// Adds the newest version of a row to `to`.
  ///
  /// @param parameters one row
  /// @return FOUND; NOTHING: it is deleted, or has another key; ELSE; TORN. Unless FOUND, the row of `to` may be begun
  DirectFound read(
      DirectTicket ticket, long row, long newLimit, RowBatchReader parameters, RowBatchWriter to) {
    limit = newLimit;
    slot = (int) row & ((1 << SLOT_BITS) - 1);
    page = page(ticket.table, row >>> SLOT_BITS);
    if (page < 0 || slot >= ticket.pageRows) {
      return DirectFound.TORN;
    }
    long versionAt = page + StorePageLayout.VERSION_OFFSET;
    long version = SharedMemory.getLongAcquire(memory, versionAt);
    if ((version & 1) != 0) {
      return DirectFound.TORN;
    }
    DirectFound found = version(ticket, parameters, to);
    return StoreMemory.isUnchanged(memory, versionAt, version) ? found : DirectFound.TORN;
  }

  /// Timestamp of the version that was seen last.
  long newest() {
    return newest;
  }

  /// Offset of some bytes; -1: not all of them are in the memory.
  private long offset(long address, long count) {
    long offset = address - there;
    return StoreMemory.fits(offset, count, limit) ? offset : -1;
  }

  /// The same of an aligned word.
  private long wordOffset(long address) {
    return address % WORD_BYTES == 0 ? offset(address, WORD_BYTES) : -1;
  }

  /// Offset of a page; -1: it is not there.
  private long page(long table, long number) {
    long parts = SharedMemory.getLongAcquire(memory, table + StoreTableLayout.PARTS_OFFSET);
    long part = number / StoreTableLayout.PART_PAGES;
    if (part >= SharedMemory.getLongAcquire(memory, table + StoreTableLayout.PART_COUNT_OFFSET)) {
      return -1;
    }
    long partAt = wordOffset(parts + WORD_BYTES * part);
    if (partAt < 0) {
      return -1;
    }
    long pages = SharedMemory.getLongAcquire(memory, partAt);
    long pageAt = wordOffset(pages + WORD_BYTES * (number % StoreTableLayout.PART_PAGES));
    if (pageAt < 0) {
      return -1;
    }
    long address = SharedMemory.getLongAcquire(memory, pageAt);
    return address % WORD_BYTES == 0 ? offset(address, StorePageLayout.PAGE_BYTES) : -1;
  }

  private DirectFound version(DirectTicket ticket, RowBatchReader parameters, RowBatchWriter to) {
    long stamps = SharedMemory.getLongOpaque(memory, page + StorePageLayout.STAMPS_OFFSET);
    long stampAt = stamps == 0 ? -1 : wordOffset(stamps + (long) WORD_BYTES * slot);
    newest = 0;
    if (stampAt < 0) {
      return DirectFound.TORN;
    }
    long stamp = SharedMemory.getLongOpaque(memory, stampAt);
    if ((stamp & IN_FLIGHT) != 0) {
      return DirectFound.ELSE;
    }
    newest = stamp & TIMESTAMP;
    if ((stamp & TOMBSTONE) != 0) {
      return DirectFound.NOTHING;
    }
    DirectFound found = hasKey(ticket.keys, parameters);
    return found == DirectFound.FOUND ? copy(ticket.columns, parameters, to) : found;
  }

  /// Whether the row has the values that were asked for: an entry of an index may be that of another version.
  private DirectFound hasKey(DirectTicket.Key[] keys, RowBatchReader parameters) {
    for (DirectTicket.Key key : keys) {
      DirectFound found = value(key.column(), key.kind(), false, key.dictionaryCell());
      if (found != DirectFound.FOUND) {
        return found;
      }
      if (isNull) {
        return DirectFound.NOTHING;
      }
      long wanted = parameters.getWord(0, key.parameter());
      if (key.kind() == ValueKind.WORD) {
        if (word != wanted) {
          return DirectFound.NOTHING;
        }
        continue;
      }
      MemorySegment values = parameters.memory();
      boolean isVarlena = key.kind() == ValueKind.VARLENA;
      int count = isVarlena ? DirectKey.payloadBytes(values, wanted) : FIXED_BYTES;
      long from = isVarlena ? wanted + VARLENA_HEADER_BYTES : wanted;
      if (count < 0 || !DirectKey.hasValue(values, from, count)) {
        return DirectFound.ELSE;
      }
      if (count != length
          || MemorySegment.mismatch(values, from, from + count, bytes, at, at + count) >= 0) {
        return DirectFound.NOTHING;
      }
    }
    return DirectFound.FOUND;
  }

  private DirectFound copy(
      DirectTicket.Column[] columns, RowBatchReader parameters, RowBatchWriter to) {
    if (!to.addRow()) {
      return DirectFound.ELSE;
    }
    for (int i = 0; i < columns.length; i++) {
      DirectTicket.Column column = columns[i];
      if (column.kind() == ValueKind.PARAMETER) {
        if (column.column() >= parameters.columnCount()) {
          return DirectFound.ELSE;
        }
        if (parameters.isNull(0, column.column())) {
          to.setNull(i);
        } else {
          to.setLong(i, parameters.getWord(0, column.column()));
        }
        continue;
      }
      DirectFound found =
          value(column.column(), column.kind(), column.isMissingNull(), column.dictionaryCell());
      if (found != DirectFound.FOUND) {
        return found;
      }
      boolean fits = true;
      if (isNull) {
        to.setNull(i);
      } else if (column.kind() == ValueKind.VARLENA) {
        fits = to.setVarlena(i, bytes, at, length);
      } else if (column.kind() == ValueKind.FIXED16) {
        fits = to.setFixed(i, bytes, at, length);
      } else {
        to.setLong(i, word);
      }
      if (!fits) {
        return DirectFound.ELSE;
      }
    }
    return DirectFound.FOUND;
  }

  /// Looks for a value of the row: [#isNull], [#word], or [#bytes] from [#at] on, [#length] of them.
  ///
  /// @param dictionary offset of its cell; 0: it has none
  private DirectFound value(int column, ValueKind kind, boolean isMissingNull, long dictionary) {
    long entry =
        page + StorePageLayout.PAGE_BYTES + (long) column * StorePageColumnLayout.COLUMN_BYTES;
    // A column that is younger than the page.
    if (column >= SharedMemory.getLongOpaque(memory, page + StorePageLayout.COLUMNS_OFFSET)) {
      return DirectFound.ELSE;
    }
    if (!StoreMemory.fits(entry, StorePageColumnLayout.COLUMN_BYTES, limit)) {
      return DirectFound.TORN;
    }
    long place = SharedMemory.getLongOpaque(memory, entry + StorePageColumnLayout.PLACE_OFFSET);
    long nulls = SharedMemory.getLongOpaque(memory, entry + StorePageColumnLayout.NULLS_OFFSET);
    isNull = place == 0;
    if (place == 0) {
      return isMissingNull ? DirectFound.FOUND : DirectFound.ELSE;
    }
    if (nulls != 0) {
      long bits = wordOffset(nulls + WORD_BYTES * (long) (slot / Long.SIZE));
      if (bits < 0) {
        return DirectFound.TORN;
      }
      isNull = (SharedMemory.getLongOpaque(memory, bits) >>> (slot % Long.SIZE) & 1) != 0;
    }
    if (isNull) {
      return DirectFound.FOUND;
    }
    DirectFound found = word(place);
    return found != DirectFound.FOUND
            || kind == ValueKind.WORD
            || kind == ValueKind.FLOAT4
            || kind == ValueKind.FLOAT8
        ? found
        : bytes(kind, dictionary);
  }

  private DirectFound word(long place) {
    int width = (int) (place & TAG);
    long from = width > 3 ? -1 : offset((place & ~TAG) + ((long) slot << width), 1L << width);
    if (from < 0) {
      return DirectFound.TORN;
    }
    word =
        switch (width) {
          case 0 -> memory.get(ValueLayout.JAVA_BYTE, from);
          case 1 -> memory.get(I16, from);
          case 2 -> memory.get(I32, from);
          default -> memory.get(I64, from);
        };
    return DirectFound.FOUND;
  }

  private DirectFound bytes(ValueKind kind, long dictionary) {
    if ((word & TAG) == SHARED && !findShared(dictionary)) {
      return DirectFound.TORN;
    }
    int tag = (int) word & TAG;
    if (tag == INLINE_BYTES || tag == INLINE_NUMERIC) {
      return kind == ValueKind.VARLENA ? inline(tag) : DirectFound.ELSE;
    }
    if (tag != OWN_ADDRESS) {
      return DirectFound.ELSE;
    }
    bytes = memory;
    if (kind == ValueKind.FIXED16) {
      at = offset(word, FIXED_BYTES);
      length = FIXED_BYTES;
      return at < 0 ? DirectFound.ELSE : DirectFound.FOUND;
    }
    long from = offset(word, VARLENA_HEADER_BYTES);
    // Long values lie elsewhere.
    if (from < 0) {
      return DirectFound.ELSE;
    }
    int count = memory.get(I32, from) >>> 2;
    if (count < VARLENA_HEADER_BYTES || !StoreMemory.fits(from, count, limit)) {
      return DirectFound.TORN;
    }
    if (count > MOST_VALUE_BYTES) {
      return DirectFound.ELSE;
    }
    at = from + VARLENA_HEADER_BYTES;
    length = count - VARLENA_HEADER_BYTES;
    return DirectFound.FOUND;
  }

  private DirectFound inline(int tag) {
    bytes = inlined;
    at = 0;
    if (tag == INLINE_BYTES) {
      length = (int) (word >>> INLINE_COUNT_SHIFT) & TAG;
      inlined.set(I64, 0, word >>> INLINE_SHIFT);
    } else {
      length = InlineNumeric.write(word, inlined);
    }
    return DirectFound.FOUND;
  }

  /// Replaces the word, the code of a value that rows share, by the word of that value.
  private boolean findShared(long cell) {
    long code = word >>> CODE_SHIFT;
    // A code that is there is found in the array that is there: it has those before it, too.
    if (cell == 0
        || code >= SharedMemory.getLongAcquire(memory, cell + StoreDictionaryLayout.COUNT_OFFSET)) {
      return false;
    }
    long values = SharedMemory.getLongAcquire(memory, cell + StoreDictionaryLayout.VALUES_OFFSET);
    long from = wordOffset(values + WORD_BYTES * code);
    if (from < 0) {
      return false;
    }
    word = SharedMemory.getLongOpaque(memory, from);
    return true;
  }
}
