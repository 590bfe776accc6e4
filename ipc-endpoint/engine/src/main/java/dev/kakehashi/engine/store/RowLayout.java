package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;

/// Where things lie in the pages and undo records of one table. Immutable.
///
/// A page holds `rows` row slots, column by column, because a scan wants a few columns of all rows, and then copies a column's words at once:
///
/// ```
/// stamps   rows × 8                      who made the version and when, see Stamp
/// undo     rows × 8                      address of the undo record that holds the version before; 0: there was none
/// column 0 ceil(rows/64) × 8, rows × 8   null bits, words
/// column 1 …
/// ```
///
/// The word of a by-reference value is the address of its bytes, which never change while they are there. The word of a null is 0.
///
/// An undo record is the row as it was before a change:
///
/// ```
///  0  stamp of that version
///  8  undo pointer of that version
/// 16  flags (bit 0: the change may have changed the key of an index)
/// 24  one bit per column: the change replaced the value's bytes, so they go when this version goes
///  …  null bits, one per column
///  …  words, one per column
/// ```
final class RowLayout {
  static final int UNDO_STAMP = 0;
  static final int UNDO_PREVIOUS = 8;
  static final int UNDO_FLAGS = 16;
  static final int UNDO_REPLACED = 24;
  static final long KEYS_CHANGED = 1;

  private static final int MAX_ROWS = 1 << Page.SLOT_BITS;

  final ColumnKind[] kinds;
  final int columns;

  /// Row slots of a page.
  final int rows;

  /// Columns whose words are addresses.
  final int[] byReference;

  /// Words of a bit set over the columns.
  final int bitWords;

  final int undoNulls;
  final int undoWords;
  final int undoBytes;

  private final int columnBytes;
  private final int nullBytes;

  RowLayout(List<ColumnKind> kinds) {
    this.kinds = kinds.toArray(ColumnKind[]::new);
    columns = this.kinds.length;
    byReference =
        java.util.stream.IntStream.range(0, columns)
            .filter(c -> this.kinds[c].byReference())
            .toArray();
    int fit = Math.min(MAX_ROWS, (MemoryPool.PAGE_BYTES - 8 * columns) / (16 + 8 * columns));
    while (fit > 0 && bytes(fit) > MemoryPool.PAGE_BYTES) {
      fit--;
    }
    if (fit < 1) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "table with %d columns has too many".formatted(columns));
    }
    rows = fit >= 128 ? fit & ~63 : fit;
    nullBytes = ((rows + 63) >>> 6) * 8;
    columnBytes = nullBytes + rows * 8;
    bitWords = (columns + 63) >>> 6;
    undoNulls = UNDO_REPLACED + bitWords * 8;
    undoWords = undoNulls + bitWords * 8;
    undoBytes = undoWords + columns * 8;
  }

  private long bytes(int rows) {
    return 16L * rows + columns * (((rows + 63L) >>> 6) * 8 + 8L * rows);
  }

  long stamp(long page, int slot) {
    return page + 8L * slot;
  }

  long undo(long page, int slot) {
    return page + 8L * (rows + slot);
  }

  /// Address of the null bits of a column.
  long nulls(long page, int column) {
    return page + 16L * rows + (long) column * columnBytes;
  }

  /// Address of the words of a column.
  long words(long page, int column) {
    return nulls(page, column) + nullBytes;
  }

  /// Address of a word of an undo record.
  long undoWord(long record, int column) {
    return record + undoWords + 8L * column;
  }
}
