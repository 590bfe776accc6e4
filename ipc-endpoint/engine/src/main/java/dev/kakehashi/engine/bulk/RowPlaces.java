package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Where in its files each row comes from that a task has inserted, for messages. Used by one thread at a time.
///
/// Rows of one filling mostly have row identifiers one after another: a run of these takes 40 bytes, and 128 more if a condition has left
/// out rows between.
final class RowPlaces {
  /// Words of a run: number of the part, number of its first row there, first row identifier, rows, and where its bits are; -1: its rows
  /// are one after another in the files, too.
  private static final int WORDS = 5;

  private static final int ORDINAL = 1;
  private static final int ROW_ID = 2;
  private static final int COUNT = 3;
  private static final int BITS = 4;

  /// Words for the bits of a run that has them: one bit is set for each row that was inserted, from the first one on.
  private static final int BIT_WORDS = (VectorBatch.CAPACITY + 63) / 64;

  private long[] runs = {};
  private int used;
  private long[] bits = {};
  private int usedBits;

  /// Part of the rows that are inserted now.
  private long part;

  private long firstOrdinal;

  /// First row of the run in its filling.
  private int firstRow;

  private boolean begins = true;

  /// A row of the files.
  ///
  /// @param part number of the part
  /// @param ordinal among the rows of the part, from 0
  record Place(long part, long ordinal) {
    boolean isAfter(Place other) {
      return part != other.part ? part > other.part : ordinal > other.ordinal;
    }
  }

  /// A filling begins.
  ///
  /// @param ordinal of its first row in the part
  void begin(long ofPart, long ordinal) {
    part = ofPart;
    firstOrdinal = ordinal;
    begins = true;
  }

  /// A row has been inserted.
  ///
  /// @param row of the filling; rows ascend
  void add(int row, long rowId) {
    int last = used - WORDS;
    if (begins || rowId != runs[last + ROW_ID] + runs[last + COUNT]) {
      start(row, rowId);
      return;
    }
    long count = runs[last + COUNT];
    if (runs[last + BITS] < 0 && row != firstRow + count) {
      runs[last + BITS] = newBits((int) count);
    }
    if (runs[last + BITS] >= 0) {
      int bit = row - firstRow;
      bits[(int) runs[last + BITS] + (bit >>> 6)] |= 1L << bit;
    }
    runs[last + COUNT] = count + 1;
  }

  private void start(int row, long rowId) {
    if (used == runs.length) {
      runs = Arrays.copyOf(runs, Math.max(16 * WORDS, 2 * used));
    }
    runs[used] = part;
    runs[used + ORDINAL] = firstOrdinal + row;
    runs[used + ROW_ID] = rowId;
    runs[used + COUNT] = 1;
    runs[used + BITS] = -1;
    used += WORDS;
    firstRow = row;
    begins = false;
  }

  /// Bits of a run whose rows so far are one after another.
  private int newBits(int count) {
    if (usedBits == bits.length) {
      bits = Arrays.copyOf(bits, Math.max(BIT_WORDS, 2 * usedBits));
    }
    int at = usedBits;
    usedBits += BIT_WORDS;
    for (int bit = 0; bit < count; bit++) {
      bits[at + (bit >>> 6)] |= 1L << bit;
    }
    return at;
  }

  /// Null: it was not inserted here.
  @Nullable Place find(long rowId) {
    for (int at = 0; at < used; at += WORDS) {
      long behind = rowId - runs[at + ROW_ID];
      if (behind >= 0 && behind < runs[at + COUNT]) {
        long ordinal = runs[at + ORDINAL];
        return new Place(
            runs[at],
            runs[at + BITS] < 0
                ? ordinal + behind
                : ordinal + bit((int) runs[at + BITS], (int) behind));
      }
    }
    return null;
  }

  /// Which bit is set after `before` others.
  private int bit(int at, int before) {
    int left = before;
    for (int bit = 0; ; bit++) {
      if ((bits[at + (bit >>> 6)] >>> bit & 1) != 0 && left-- == 0) {
        return bit;
      }
    }
  }
}
