package dev.kakehashi.engine.vector;

import java.util.Arrays;

/// Values of one column, one 8-byte word per row.
///
/// Words have the form of PROTOCOL.md §6 with one difference: the word of a by-reference value (varlena, uuid, interval) is the absolute
/// native address of the value, which is a multiple of 8 and lives in a [VarHeap]. The word of a null is 0.
///
/// Confined to one task at a time.
public final class ColumnVector {
  /// One word per row; capacity is `words.length`.
  public final long[] words;

  /// Bit r%64 of word r/64 set: row r is null. Only meaningful while `hasNulls`.
  public final long[] nulls;

  /// Whether any bit of `nulls` may be set. While false, `nulls` is all zero.
  public boolean hasNulls;

  public ColumnVector(int capacity) {
    this.words = new long[capacity];
    this.nulls = new long[(capacity + 63) >>> 6];
  }

  public boolean isNull(int row) {
    return hasNulls && (nulls[row >>> 6] >>> (row & 63) & 1) != 0;
  }

  public void setNull(int row) {
    hasNulls = true;
    nulls[row >>> 6] |= 1L << (row & 63);
    words[row] = 0;
  }

  /// Makes every row not null.
  public void clearNulls() {
    if (hasNulls) {
      Arrays.fill(nulls, 0);
      hasNulls = false;
    }
  }
}
