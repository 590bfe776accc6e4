package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.Arrays;

/// Finds the different values of a leaf, and the index of each value among them. Used for one leaf after another; not thread-safe.
final class DictionaryBuilder implements AutoCloseable {
  /// Longest dictionary in plain encoding.
  static final int MAX_BYTES = 1 << 20;

  private static final int TABLE_BITS = 18;

  /// A quarter of the table stays free.
  private static final int MAX_ENTRIES = 3 << (TABLE_BITS - 2);

  private static final int FIRST_CHECK = 1 << 12;
  private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
  private final BulkContext context;

  /// Entry + 1 by hash.
  private int[] table = {};

  /// Index of the first value of each entry.
  int[] entries = {};

  int entryCount;

  /// Entry of each value.
  int[] indices = {};

  DictionaryBuilder(BulkContext context) {
    this.context = context;
  }

  /// Looks at all values.
  ///
  /// @return whether a dictionary is worth it: it is short enough, and most values occur several times
  boolean build(LeafValues leaf) {
    int count = leaf.count;
    if (count == 0) {
      return false;
    }
    prepare(count);
    int checkAt = Math.min(FIRST_CHECK, count);
    long bytes = 0;
    for (int i = 0; i < count; ) {
      int end = Math.min(count, checkAt);
      if (leaf.isLong) {
        addLongs(leaf.longs, i, end);
      } else {
        addPieces(leaf, i, end);
      }
      i = end;
      checkAt = end + FIRST_CHECK;
      bytes = entryCount == 0 ? 0 : dictionaryBytes(leaf);
      if (entryCount > i - (i >> 2)
          || bytes > MAX_BYTES
          || entryCount > MAX_ENTRIES - FIRST_CHECK) {
        return false;
      }
    }
    return true;
  }

  /// Bytes of the entries in plain encoding.
  long dictionaryBytes(LeafValues leaf) {
    long each =
        leaf.isLong ? leaf.plainBytes(0, 8) / 8 : leaf.width > 0 ? leaf.width : Integer.BYTES;
    long bytes = each * entryCount;
    if (!leaf.isLong && leaf.width == 0) {
      for (int i = 0; i < entryCount; i++) {
        bytes += leaf.ends[entries[i]] - leaf.start(entries[i]);
      }
    }
    return bytes;
  }

  private void prepare(int count) {
    if (table.length == 0) {
      context.reserveMemory(4L << TABLE_BITS);
      table = new int[1 << TABLE_BITS];
      context.reserveMemory(4L * MAX_ENTRIES);
      entries = new int[MAX_ENTRIES];
    } else {
      Arrays.fill(table, 0);
    }
    if (indices.length < count) {
      context.reserveMemory(4L * (count - indices.length));
      indices = new int[count];
    }
    entryCount = 0;
  }

  private void addLongs(long[] values, int from, int to) {
    int mask = table.length - 1;
    for (int i = from; i < to; i++) {
      long value = values[i];
      int slot = (int) ((value * FACTOR) >>> (Long.SIZE - TABLE_BITS));
      int entry = table[slot] - 1;
      while (entry >= 0 && values[entries[entry]] != value) {
        slot = (slot + 1) & mask;
        entry = table[slot] - 1;
      }
      indices[i] = entry >= 0 ? entry : enter(slot, i);
    }
  }

  private int enter(int slot, int value) {
    entries[entryCount] = value;
    table[slot] = entryCount + 1;
    return entryCount++;
  }

  private void addPieces(LeafValues leaf, int from, int to) {
    byte[] bytes = leaf.bytes.bytes;
    int[] ends = leaf.ends;
    int mask = table.length - 1;
    int start = leaf.start(from);
    for (int i = from; i < to; i++) {
      int end = ends[i];
      int slot = (int) (hash(bytes, start, end) >>> (Long.SIZE - TABLE_BITS));
      int entry = table[slot] - 1;
      while (entry >= 0) {
        int first = entries[entry];
        if (Arrays.equals(bytes, leaf.start(first), ends[first], bytes, start, end)) {
          break;
        }
        slot = (slot + 1) & mask;
        entry = table[slot] - 1;
      }
      indices[i] = entry >= 0 ? entry : enter(slot, i);
      start = end;
    }
  }

  private static long hash(byte[] bytes, int start, int end) {
    long hash = (long) end - start;
    int at = start;
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      hash = (hash ^ (long) ByteSpace.LONGS.get(bytes, at)) * FACTOR;
      hash ^= hash >>> 32;
    }
    long rest = 0;
    for (; at < end; at++) {
      rest = rest << 8 | (bytes[at] & 0xFF);
    }
    hash = (hash ^ rest) * FACTOR;
    hash ^= hash >>> 29;
    return hash * FACTOR;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory(4L * (table.length + entries.length + indices.length));
    table = new int[0];
    entries = new int[0];
    indices = new int[0];
  }
}
