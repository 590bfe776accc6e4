package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.bulk.value.FileValues;
import java.util.Arrays;

/// Rows of a column that is no list.
final class FlatReader implements ColumnReader {
  private final LeafPages pages;
  private byte[] levels = {};

  FlatReader(LeafPages pages) {
    this.pages = pages;
  }

  @Override
  public int ready(int wanted) {
    if (!pages.isPieces()) {
      return wanted;
    }
    if (pages.left() == 0) {
      pages.nextPage();
    }
    return Math.min(Math.min(wanted, pages.mostAtOnce()), pages.left());
  }

  @Override
  public void read(int rows, FileValues into) {
    into.begin(rows);
    if (pages.type().storage() == Storage.NONE) {
      checkNulls(rows);
      return;
    }
    boolean marked = false;
    for (int done = 0; done < rows; ) {
      if (pages.left() == 0) {
        pages.nextPage();
      }
      int taken = Math.min(rows - done, pages.left());
      int there = taken;
      if (pages.hasDefinitions()) {
        if (levels.length < taken) {
          levels = new byte[taken];
        }
        there = pages.definitions(levels, 0, taken);
      } else {
        pages.definitions(levels, 0, taken);
      }
      if (there < taken && !marked) {
        Arrays.fill(into.markNulls(), 0, done, (byte) 1);
        marked = true;
      }
      if (marked) {
        if (there == taken) {
          Arrays.fill(into.present(), done, done + taken, (byte) 1);
        } else {
          // The highest level is 1: there is nothing around the column.
          System.arraycopy(levels, 0, into.present(), done, taken);
        }
      }
      if (pages.isPieces()) {
        readPieces(into, done, taken, there);
      } else {
        readLongs(into, done, taken, there);
      }
      done += taken;
    }
  }

  /// Checks that a column whose type has no values has nulls alone.
  private void checkNulls(int rows) {
    for (int done = 0; done < rows; ) {
      if (pages.left() == 0) {
        pages.nextPage();
      }
      int taken = Math.min(rows - done, pages.left());
      if (levels.length < taken) {
        levels = new byte[taken];
      }
      if (pages.definitions(levels, 0, taken) > 0) {
        throw Damage.of("a column of nulls has a value");
      }
      done += taken;
    }
  }

  private void readLongs(FileValues into, int from, int rows, int there) {
    long[] longs = into.longs();
    pages.longs(longs, from, there);
    if (there == rows) {
      return;
    }
    int next = from + there;
    for (int i = rows - 1; next < from + i + 1 && i >= 0; i--) {
      if (levels[i] != 0) {
        longs[from + i] = longs[--next];
      } else {
        longs[from + i] = 0;
      }
    }
  }

  private void readPieces(FileValues into, int from, int rows, int there) {
    int[] starts = into.starts();
    int[] lengths = into.lengths();
    pages.pieces(starts, lengths, from, there);
    into.setBytes(there == 0 ? new byte[0] : pages.bytes());
    if (there == rows) {
      return;
    }
    int next = from + there;
    for (int i = rows - 1; i >= 0; i--) {
      if (levels[i] != 0) {
        next--;
        starts[from + i] = starts[next];
        lengths[from + i] = lengths[next];
      } else {
        starts[from + i] = 0;
        lengths[from + i] = 0;
      }
    }
  }

  @Override
  public long readBytes() {
    return pages.readBytes();
  }

  @Override
  public void close() {
    pages.close();
  }
}
