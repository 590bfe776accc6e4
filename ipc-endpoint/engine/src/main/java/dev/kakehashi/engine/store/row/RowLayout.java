package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How the rows of one table lie in its pages and undo records. Immutable, but for [#widestWidths].
///
/// A page has `rows` row slots and a block of memory for each part of them, so that a scan copies what it wants of a column at once:
///
/// ```
/// stamps     8 a slot               who made the version and when, see Stamp
/// undo       8 a slot               address of the undo record that holds the version before; 0: there was none
/// null bits  1 bit a slot, of each column
/// words      1, 2, 4 or 8 a slot, of each column
/// ```
///
/// All but the stamps are made when a row needs them: undo pointers with the first change, null bits with the first null, words with the
/// first value that is not the column's missing one. Words are as wide as the widest one that the column has had in the page, so that most
/// numbers take 4 bytes or less. A column without words has its missing value in all rows of the page. See [Placement].
///
/// The word of a by-reference value is the address of its bytes, which never change while they are there, or the value itself
/// ([CompactWord]). Texts that many rows have are in memory once ([TextDictionary]): their words in a page are codes, elsewhere marked
/// addresses ([StoredWord]). The word of a null is 0. The bytes of a missing value belong to the table: all its rows have the same address.
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

  /// Bytes of a page whose words are all 8 wide. The number of rows follows from it, and row identifiers of directories from that.
  private static final int PAGE_BYTES = 64 << 10;

  private static final int HEADER_BYTES = 4;

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

  /// Values that rows share, of columns of texts and bytes; null for others.
  private final @Nullable TextDictionary[] dictionaries;

  /// Row slots of a page.
  public final int rows;

  /// Columns whose words are addresses, or compact.
  public final int[] byReference;

  /// Widths that pages begin the columns with: those that the table has needed so far, see [Page]. Hints, which all write and read without
  /// order.
  final byte[] widestWidths;

  /// Bytes of an undo record made now.
  public final int undoBytes;

  /// Bytes of the null bits of a column.
  final int nullBytes;

  /// @param pool gets the missing values
  public RowLayout(Placement placement, MemoryPool pool) {
    this(
        placement.pageColumns(),
        placement.widthWritten(),
        placement.kinds(),
        new long[placement.stored().size()],
        new boolean[placement.stored().size()],
        new TextDictionary[placement.stored().size()]);
    addDictionaries(0, pool);
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
            Arrays.copyOf(missingNull, count),
            Arrays.copyOf(dictionaries, count));
    grown.addDictionaries(columns, pool);
    System.arraycopy(widestWidths, 0, grown.widestWidths, 0, columns);
    grown.takeMissing(placement, columns, pool);
    return grown;
  }

  private void addDictionaries(int from, MemoryPool pool) {
    for (int c = from; c < columns; c++) {
      if (kinds[c] == ColumnKind.VARLENA || kinds[c] == ColumnKind.BPCHAR) {
        dictionaries[c] = new TextDictionary(pool);
      }
    }
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

  /// Frees the missing values, and those that rows share. Nobody uses the table any more.
  public void free(MemoryPool pool) {
    freeMissing(pool, 0, columns);
    for (TextDictionary each : dictionaries) {
      if (each != null) {
        each.free();
      }
    }
  }

  private void freeMissing(MemoryPool pool, int from, int to) {
    for (int c : byReference) {
      if (c >= from && c < to && isAddress(missing[c])) {
        pool.free(missing[c], VarlenaLengths.bytes(kinds[c], missing[c]));
      }
    }
  }

  private RowLayout(
      int pageColumns,
      boolean widthWritten,
      List<ColumnKind> kinds,
      long[] missing,
      boolean[] missingNull,
      @Nullable TextDictionary[] dictionaries) {
    this.widthWritten = widthWritten;
    this.kinds = kinds.toArray(ColumnKind[]::new);
    this.columns = this.kinds.length;
    this.pageColumns = pageColumns;
    this.missing = missing;
    this.missingNull = missingNull;
    this.dictionaries = dictionaries;
    byReference =
        java.util.stream.IntStream.range(0, columns)
            .filter(c -> this.kinds[c].byReference())
            .toArray();
    int fit = Math.min(MAX_ROWS, (PAGE_BYTES - 8 * pageColumns) / (16 + 8 * pageColumns));
    while (fit > 0 && bytes(fit) > PAGE_BYTES) {
      fit--;
    }
    if (fit < 1) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "table with %d columns has too many".formatted(pageColumns));
    }
    rows = fit >= 128 ? fit & ~63 : fit;
    nullBytes = ((rows + 63) >>> 6) * 8;
    undoBytes = undoBytes(columns);
    widestWidths = new byte[columns];
  }

  /// As if all that there can be were there, and all words 8 wide.
  private long bytes(int rows) {
    return 16L * rows + pageColumns * (((rows + 63L) >>> 6) * 8 + 8L * rows);
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
    return isAddress(word) && word != missing[column];
  }

  private static boolean isAddress(long word) {
    return word != 0 && !CompactWord.isCompact(word) && !StoredWord.isShared(word);
  }

  /// Values of a column that rows share; null: it has none.
  ValueCodec.@Nullable SharedValues shared(int column) {
    return dictionaries[column];
  }

  /// Cell of the values of a column that rows share, see [dev.kakehashi.engine.store.memory.StoreHead]; 0: there is none.
  public long dictionaryCell(int column) {
    TextDictionary dictionary = dictionaries[column];
    return dictionary == null ? 0 : dictionary.cell();
  }

  /// The word of a value that rows share.
  ///
  /// @param address of the value, in PostgreSQL's form
  /// @return 0: it is none of these
  public long shared(int column, long address) {
    TextDictionary dictionary = dictionaries[column];
    return dictionary == null
        ? 0
        : dictionary.word(address + HEADER_BYTES, VarlenaLengths.bytes(address) - HEADER_BYTES);
  }

  /// Translates a word of a column to that of a page.
  long toPage(int column, long word) {
    return StoredWord.isShared(word) && dictionaries[column] != null
        ? TextDictionary.codeOf(word)
        : word;
  }

  /// The word of a column that a page has; nonsense gives nonsense, and no address that is not the table's.
  public long fromPage(int column, long word) {
    if (!StoredWord.isCode(word)) {
      return word;
    }
    TextDictionary dictionary = dictionaries[column];
    return dictionary == null ? word : dictionary.word(word);
  }

  /// Memory of the values of a column that rows share, as the pool counts it.
  public long sharedBytes(int column) {
    TextDictionary dictionary = dictionaries[column];
    return dictionary == null ? 0 : dictionary.memoryBytes();
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
