package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The columns of a [Page]: blocks of words and of null bits, made when a row needs them. The page's latch guards them, and its readers
/// validate as it says.
final class PageColumns {
  private static final long[] NOTHING = {};

  /// A block of a column's words that a wider one has replaced.
  private record Outgrown(int column, long place, @Nullable Outgrown before) {}

  private final TableForm form;

  /// For the number of rows, which is the same in every later layout of the table.
  private final RowLayout layout;

  /// Where the words of each column are: an address, and in its low bits which power of two their bytes are; 0: all rows have the missing
  /// value. Wider words get another block, and the one before is kept until the page is empty: the owner of a row in flight reads its
  /// words without a latch. An array is replaced when columns are added; elements change under the latch. A reader that meets an old one
  /// finds out when it validates.
  private volatile long[] places = NOTHING;

  /// Null bits of each column; 0: there was no null. As `places`.
  private volatile long[] nulls = NOTHING;

  /// Blocks that wider ones have replaced; written under the latch.
  private volatile @Nullable Outgrown outgrown;

  /// The [SharedPage], for readers in other processes; 0: there are none. The page frees it.
  private final long header;

  PageColumns(TableForm form, long header) {
    this.form = form;
    this.header = header;
    this.layout = form.layout;
  }

  /// Frees all blocks.
  void free() {
    MemoryPool pool = form.pool;
    for (long place : places) {
      freeWords(pool, place);
    }
    for (Outgrown each = outgrown; each != null; each = each.before) {
      freeWords(pool, each.place);
    }
    for (long bits : nulls) {
      if (bits != 0) {
        pool.free(bits, layout.nullBytes);
      }
    }
    places = NOTHING;
    nulls = NOTHING;
    outgrown = null;
    if (header != 0) {
      SharedPage.clear(header);
    }
  }

  private void place(int column, long place) {
    places[column] = place;
    if (header != 0) {
      SharedPage.place(header, column, place);
    }
  }

  private void freeWords(MemoryPool pool, long place) {
    if (place != 0) {
      pool.free(Words.address(place), Words.bytes(place, layout.rows));
    }
  }

  /// Memory of a column, as the pool counts it. An answer that may be old.
  long memoryBytes(int column) {
    long bytes = wordBytes(place(column));
    bytes += nulls(column) == 0 ? 0 : MemoryPool.blockBytes(layout.nullBytes);
    for (Outgrown each = outgrown; each != null; each = each.before) {
      bytes += each.column == column ? wordBytes(each.place) : 0;
    }
    return bytes;
  }

  private long wordBytes(long place) {
    return place == 0 ? 0 : MemoryPool.blockBytes(Words.bytes(place, layout.rows));
  }

  /// Where the words of a column are, for [Words]; 0: all rows have its missing value.
  long place(int column) {
    long[] present = places;
    return column < present.length ? present[column] : 0;
  }

  /// Null bits of a column that has a place; 0: there was never a null.
  long nulls(int column) {
    long[] present = nulls;
    return column < present.length ? present[column] : 0;
  }

  long word(int column, int slot) {
    long place = place(column);
    if (place == 0) {
      return form.layout.missing(column);
    }
    long word = Words.get(place, slot);
    return StoredWord.isCode(word) ? form.layout.fromPage(column, word) : word;
  }

  boolean isNull(int column, int slot) {
    if (place(column) == 0) {
      return form.layout.isMissingNull(column);
    }
    long bits = nulls(column);
    return bits != 0 && hasBit(bits, slot);
  }

  private static boolean hasBit(long bits, int slot) {
    return (Native.getLong(bits + 8L * (slot >>> 6)) >>> (slot & 63) & 1) != 0;
  }

  /// Sets a value; [#makeRoomFor] has been called for the version that it is of.
  void set(int column, int slot, long word, boolean isNull) {
    long place = place(column);
    // Without one it is the missing value, or that of a deleted row.
    if (place != 0) {
      Words.put(place, slot, isNull ? 0 : form.layout.toPage(column, word));
      long bits = nulls(column);
      if (bits != 0) {
        setBit(bits, slot, isNull);
      }
    }
  }

  private static void setBit(long bits, int slot, boolean isSet) {
    long at = bits + 8L * (slot >>> 6);
    long bit = 1L << (slot & 63);
    long present = Native.getLong(at);
    Native.putLong(at, isSet ? present | bit : present & ~bit);
  }

  /// Makes the memory that a version needs, in a latched page, before anything else of it is changed.
  ///
  /// @param used slots that have ever held a row
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; the page holds what it held then
  void makeRoomFor(RowVersion version, int used) {
    int columns = version.words.length;
    if (places.length < columns) {
      nulls = Arrays.copyOf(nulls, columns);
      places = Arrays.copyOf(places, columns);
    }
    long[] present = places;
    RowLayout now = form.layout;
    for (int c = 0; c < columns; c++) {
      long word = now.toPage(c, version.words[c]);
      boolean isNull = version.nulls[c];
      if (present[c] == 0) {
        if (isNull != now.isMissingNull(c) || word != now.missing(c)) {
          addWords(c, word, now, used == 0);
        }
      } else if (!Words.fits(present[c], word)) {
        widen(c, word, used);
      }
      if (isNull && present[c] != 0 && nulls[c] == 0) {
        addNulls(c, false);
      }
    }
  }

  /// The first value of a column that is not its missing one.
  private void addWords(int column, long word, RowLayout now, boolean isFirstRow) {
    int width = Math.max(Words.width(word), now.widestWidths[column]);
    if (!isFirstRow) {
      width = Math.max(width, Words.width(now.missing(column)));
    }
    now.widestWidths[column] = (byte) width;
    if (!isFirstRow && now.isMissingNull(column)) {
      addNulls(column, true);
    }
    long place = Words.allocate(form.pool, width, layout.rows);
    if (!isFirstRow) {
      for (int slot = 0; slot < layout.rows; slot++) {
        Words.put(place, slot, now.missing(column));
      }
    }
    VarHandle.storeStoreFence();
    place(column, place);
  }

  private void widen(int column, long word, int used) {
    RowLayout now = form.layout;
    int width = Math.max(Words.width(word), now.widestWidths[column]);
    now.widestWidths[column] = (byte) width;
    long before = places[column];
    Outgrown kept = new Outgrown(column, before, outgrown);
    long place = Words.allocate(form.pool, width, layout.rows);
    for (int slot = 0; slot < used; slot++) {
      Words.put(place, slot, Words.get(before, slot));
    }
    outgrown = kept;
    VarHandle.storeStoreFence();
    place(column, place);
  }

  /// @param all whether the rows so far are null
  private void addNulls(int column, boolean all) {
    long bits = form.pool.allocate(layout.nullBytes);
    for (long at = bits; at < bits + layout.nullBytes; at += 8) {
      Native.putLong(at, all ? -1L : 0);
    }
    VarHandle.storeStoreFence();
    nulls[column] = bits;
    if (header != 0) {
      SharedPage.nulls(header, column, bits);
    }
  }
}
