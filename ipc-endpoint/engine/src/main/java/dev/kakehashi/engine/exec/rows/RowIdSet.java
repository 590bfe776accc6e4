package dev.kakehashi.engine.exec.rows;

import java.util.Arrays;

/// Row identifiers that a statement has changed. Open addressing; confined to one task at a time.
public final class RowIdSet {
  private static final int FIRST_SLOTS = 64;
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /// Identifier + 1, or 0 when free; length is a power of two, at most half full.
  private long[] slots = new long[FIRST_SLOTS];

  private int size;

  /// False if it was there already.
  public boolean add(long rowId) {
    int slot = slot(slots, rowId + 1);
    if (slots[slot] != 0) {
      return false;
    }
    slots[slot] = rowId + 1;
    if (++size * 2 > slots.length) {
      grow();
    }
    return true;
  }

  public boolean contains(long rowId) {
    return slots[slot(slots, rowId + 1)] != 0;
  }

  private static int slot(long[] slots, long value) {
    int mask = slots.length - 1;
    int slot = (int) ((value * SPREAD) >>> 32) & mask;
    while (slots[slot] != 0 && slots[slot] != value) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] larger = new long[2 * slots.length];
    for (long value : slots) {
      if (value != 0) {
        larger[slot(larger, value)] = value;
      }
    }
    slots = larger;
  }

  void clear() {
    if (slots.length > FIRST_SLOTS) {
      slots = new long[FIRST_SLOTS];
    } else {
      Arrays.fill(slots, 0);
    }
    size = 0;
  }

  long memoryBytes() {
    return 8L * slots.length;
  }
}
