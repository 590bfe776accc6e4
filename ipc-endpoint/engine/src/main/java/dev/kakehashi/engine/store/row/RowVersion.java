package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VectorBatch;

/// The words of one version of a row, copied. Confined to one thread at a time.
public final class RowVersion {
  public final long[] words;
  public final boolean[] nulls;

  public RowVersion(int columns) {
    words = new long[columns];
    nulls = new boolean[columns];
  }

  long word(int column) {
    return words[column];
  }

  boolean isNull(int column) {
    return nulls[column];
  }

  /// Copies the newest version; the caller has the latch, or validates.
  public void readHead(Page page, int slot) {
    for (int c = 0; c < words.length; c++) {
      words[c] = page.word(c, slot);
      nulls[c] = page.isNull(c, slot);
    }
  }

  /// Like [#readHead(Page, int)], but only the columns named.
  public void readHead(Page page, int slot, int[] columns) {
    for (int c : columns) {
      words[c] = page.word(c, slot);
      nulls[c] = page.isNull(c, slot);
    }
  }

  /// Copies the version that an undo record holds.
  public void readUndo(RowLayout layout, long record) {
    int width = RowLayout.undoColumns(record);
    for (int c = 0; c < words.length; c++) {
      if (c < width) {
        words[c] = Native.getLong(RowLayout.undoWordAt(record, c));
        nulls[c] = RowLayout.isUndoNull(record, width, c);
      } else {
        words[c] = layout.missing(c);
        nulls[c] = layout.isMissingNull(c);
      }
    }
  }

  /// Adds the row to a batch, by-reference values with their bytes.
  ///
  /// @param wanted columns of the batch, in its order
  /// @return position in the batch
  public int appendTo(VectorBatch batch, RowLayout layout, int[] wanted) {
    int row = batch.size++;
    for (int k = 0; k < wanted.length; k++) {
      int c = wanted[k];
      if (nulls[c]) {
        batch.columns[k].setNull(row);
      } else if (layout.kinds[c].byReference()) {
        batch.columns[k].words[row] = copyValue(batch, layout.kinds[c], words[c]);
      } else {
        batch.columns[k].words[row] = words[c];
      }
    }
    return row;
  }

  /// Copies a by-reference value to the heap of a batch.
  ///
  /// @param from its word
  /// @return address of the copy
  public static long copyValue(VectorBatch batch, ColumnKind kind, long from) {
    if (CompactWord.isCompact(from)) {
      long to = batch.heap.allocate(CompactWord.MOST_BYTES);
      CompactWord.write(from, to);
      return to;
    }
    long value = StoredWord.address(from);
    int bytes = VarlenaLengths.bytes(kind, value);
    if (bytes > 256) {
      return batch.heap.copy(value, bytes);
    }
    // Blocks of the pool and of the heap are multiples of 8.
    long to = batch.heap.allocate(bytes);
    for (int i = 0; i < bytes; i += 8) {
      Native.putLong(to + i, Native.getLong(value + i));
    }
    return to;
  }
}
