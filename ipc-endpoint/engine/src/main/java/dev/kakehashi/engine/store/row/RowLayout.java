package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/// Where things lie in the pages and undo records of one table. Immutable.
///
/// A page holds `rows` row slots, column by column, because a scan wants a few columns of all rows, and then copies a column's words at
/// once:
///
/// ```
/// stamps   rows × 8                      who made the version and when, see Stamp
/// undo     rows × 8                      address of the undo record that holds the version before; 0: there was none
/// column 0 ceil(rows/64) × 8, rows × 8   null bits, words
/// column 1 …
/// ```
///
/// Columns that were added later lie in annexes of the page, one for each column: null bits and words as above. A page without the annex of
/// a column has rows that all end before it, so they have its missing value. See [Placement].
///
/// The word of a by-reference value is the address of its bytes, which never change while they are there. The word of a null is 0. The
/// bytes of a missing value belong to the table: all its rows have the same address.
///
/// An undo record is the row as it was before a change:
///
/// ```
///  0  stamp of that version
///  8  undo pointer of that version
/// 16  flags (bit 0: the change may have changed the key of an index; from bit 32 on the number of columns)
/// 24  words, one per column
///  …  one bit per column: the change replaced the value's bytes, so they go when this version goes
///  …  null bits, one per column
/// ```
///
/// Its number of columns is that of the table when it was made.
public final class RowLayout {
  public static final int UNDO_STAMP = 0;
  public static final int UNDO_PREVIOUS = 8;
  public static final int UNDO_FLAGS = 16;
  static final long KEYS_CHANGED = 1;
  static final long LOCKED = 8;

  private static final int UNDO_WORDS = 24;
  private static final int UNDO_COLUMNS_SHIFT = 32;

  private static final int MAX_ROWS = 1 << RowIdentity.SLOT_BITS;

  public final ColumnKind[] kinds;

  /// Stored columns, also those whose addition was rolled back.
  public final int columns;

  /// Stored columns that lie in the page itself.
  final int pageColumns;

  /// Whether rows in the durable image say how many columns they have.
  final boolean widthWritten;

  /// Values of the columns in rows that end before them.
  private final long[] missing;

  private final boolean[] missingNull;

  /// Row slots of a page.
  public final int rows;

  /// Columns whose words are addresses.
  public final int[] byReference;

  /// Bytes of an undo record made now.
  public final int undoBytes;

  /// Bytes of the null bits and words of a column.
  final int annexBytes;

  private final int nullBytes;

  /// @param pool gets the missing values
  public RowLayout(Placement placement, MemoryPool pool) {
    this(
        placement.pageColumns(),
        placement.widthWritten(),
        placement.kinds(),
        new long[placement.stored().size()],
        new boolean[placement.stored().size()]);
    takeMissing(placement, 0, pool);
  }

  /// The next layout, with the stored columns of a placement that are not here yet.
  RowLayout grown(Placement placement, MemoryPool pool) {
    int count = placement.stored().size();
    RowLayout grown =
        new RowLayout(
            pageColumns,
            widthWritten,
            placement.kinds(),
            Arrays.copyOf(missing, count),
            Arrays.copyOf(missingNull, count));
    grown.takeMissing(placement, columns, pool);
    return grown;
  }

  /// Takes all of them, or none.
  private void takeMissing(Placement placement, int from, MemoryPool pool) {
    int to = from;
    try {
      for (; to < columns; to++) {
        ByteBuffer value = placement.stored().get(to).missing();
        missingNull[to] = value == null;
        missing[to] =
            value == null ? 0 : ValueCodec.decodeValue(kinds[to], value.duplicate(), pool);
      }
    } finally {
      if (to < columns) {
        freeMissing(pool, from, to);
      }
    }
  }

  /// Frees the missing values.
  public void freeMissing(MemoryPool pool) {
    freeMissing(pool, 0, columns);
  }

  private void freeMissing(MemoryPool pool, int from, int to) {
    for (int c : byReference) {
      if (c >= from && c < to && missing[c] != 0) {
        pool.free(missing[c], VarlenaLengths.bytes(kinds[c], missing[c]));
      }
    }
  }

  private RowLayout(
      int pageColumns,
      boolean widthWritten,
      List<ColumnKind> kinds,
      long[] missing,
      boolean[] missingNull) {
    this.widthWritten = widthWritten;
    this.kinds = kinds.toArray(ColumnKind[]::new);
    this.columns = this.kinds.length;
    this.pageColumns = pageColumns;
    this.missing = missing;
    this.missingNull = missingNull;
    byReference =
        java.util.stream.IntStream.range(0, columns)
            .filter(c -> this.kinds[c].byReference())
            .toArray();
    int fit =
        Math.min(MAX_ROWS, (MemoryPool.PAGE_BYTES - 8 * pageColumns) / (16 + 8 * pageColumns));
    while (fit > 0 && bytes(fit) > MemoryPool.PAGE_BYTES) {
      fit--;
    }
    if (fit < 1) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "table with %d columns has too many".formatted(pageColumns));
    }
    rows = fit >= 128 ? fit & ~63 : fit;
    nullBytes = ((rows + 63) >>> 6) * 8;
    annexBytes = nullBytes + rows * 8;
    undoBytes = undoBytes(columns);
  }

  private long bytes(int rows) {
    return 16L * rows + pageColumns * (((rows + 63L) >>> 6) * 8 + 8L * rows);
  }

  long stamp(long page, int slot) {
    return page + 8L * slot;
  }

  long undo(long page, int slot) {
    return page + 8L * (rows + slot);
  }

  /// Address of the null bits of a column.
  long nulls(long page, int column) {
    return page + 16L * rows + (long) column * annexBytes;
  }

  /// Address of the words of a column.
  long words(long page, int column) {
    return nulls(page, column) + nullBytes;
  }

  /// Address of the words in an annex.
  long annexWords(long annex) {
    return annex + nullBytes;
  }

  /// Value of a row that ends before the column.
  public long missing(int column) {
    return missing[column];
  }

  public boolean isMissingNull(int column) {
    return missingNull[column];
  }

  /// Whether the bytes at a by-reference column's word belong to the row, and not to the table.
  public boolean isOwned(int column, long word) {
    return word != 0 && word != missing[column];
  }

  // ---- undo records ----

  private static int undoBytes(int columns) {
    return UNDO_WORDS + 8 * columns + 16 * ((columns + 63) >>> 6);
  }

  public static long undoFlags(int columns, boolean keysChanged) {
    return (long) columns << UNDO_COLUMNS_SHIFT | (keysChanged ? KEYS_CHANGED : 0);
  }

  /// Whether a key differs between the version that a record holds and the one that follows it.
  public static boolean keysChanged(long record) {
    return (Native.getLong(record + UNDO_FLAGS) & KEYS_CHANGED) != 0;
  }

  /// Says that a key differs. The caller has the page's latch, and keeps the collector from freeing.
  public static void setKeysChanged(long record) {
    Native.putLong(record + UNDO_FLAGS, Native.getLong(record + UNDO_FLAGS) | KEYS_CHANGED);
  }

  /// Says that the version that follows the record's is the same, made to lock the row. The caller has made the record.
  public static void setLocked(long record) {
    Native.putLong(record + UNDO_FLAGS, Native.getLong(record + UNDO_FLAGS) | LOCKED);
  }

  public static boolean isLocked(long record) {
    return (Native.getLong(record + UNDO_FLAGS) & LOCKED) != 0;
  }

  static int undoColumns(long record) {
    return (int) (Native.getLong(record + UNDO_FLAGS) >>> UNDO_COLUMNS_SHIFT);
  }

  /// Bytes of a record.
  public static int undoSize(long record) {
    return undoBytes(undoColumns(record));
  }

  /// Address of a word of a record that has the column.
  public static long undoWordAt(long record, int column) {
    return record + UNDO_WORDS + 8L * column;
  }

  /// Address of the 64 bits for replaced values that a column is among.
  public static long undoReplacedAt(long record, int columns, int column) {
    return record + UNDO_WORDS + 8L * columns + 8L * (column >>> 6);
  }

  /// Address of the 64 null bits that a column is among.
  public static long undoNullsAt(long record, int columns, int column) {
    return undoReplacedAt(record, columns, column) + 8L * ((columns + 63) >>> 6);
  }

  public static boolean isReplaced(long record, int column) {
    int width = undoColumns(record);
    return column < width
        && (Native.getLong(undoReplacedAt(record, width, column)) >>> (column & 63) & 1) != 0;
  }

  /// Says of a record that has the column who frees its value.
  public static void setReplaced(long record, int column, boolean isReplaced) {
    long at = undoReplacedAt(record, undoColumns(record), column);
    long bit = 1L << (column & 63);
    long bits = Native.getLong(at);
    Native.putLong(at, isReplaced ? bits | bit : bits & ~bit);
  }

  /// A word of the version that a record holds.
  public long undoWord(long record, int column) {
    return column < undoColumns(record)
        ? Native.getLong(undoWordAt(record, column))
        : missing[column];
  }

  public boolean isUndoNull(long record, int column) {
    int width = undoColumns(record);
    return column < width ? isUndoNull(record, width, column) : missingNull[column];
  }

  /// Whether the column is null in a record that has it.
  static boolean isUndoNull(long record, int width, int column) {
    return (Native.getLong(undoNullsAt(record, width, column)) >>> (column & 63) & 1) != 0;
  }
}
