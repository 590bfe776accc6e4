package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.Native;

/// Entries collected to be entered into a tree in their order, so that neighbours meet a node one after another. Confined to one thread at a time; the memory is the
/// caller's.
///
/// Each entry has a slot of two words, its first 8 bytes as a number, then offset and length of all its bytes. Slots are sorted by merging (Knuth, TAOCP 3, 5.2.4),
/// the bytes stay where they are. Entries that come in order are not sorted at all, as keys that were given out one after another do.
public final class EntryRun {
  private static final int SLOT_BYTES = 16;

  /// Slots take half of the memory, one half of that for merging: entries of this size fill the rest.
  private static final int TYPICAL_ENTRY_BYTES = 2 * SLOT_BYTES;

  private static final int INSERTION_SORTED = 16;

  private final int maxEntries;
  private final long slots;
  private final long scratch;
  private final long data;
  private final int dataBytes;

  private int count;
  private int used;
  private boolean ordered = true;

  /// @param address a multiple of 8
  /// @param bytes at most 1 GB; an entry needs 32 beside its own
  public EntryRun(long address, int bytes) {
    maxEntries = bytes / (2 * SLOT_BYTES + TYPICAL_ENTRY_BYTES);
    slots = address;
    scratch = slots + (long) maxEntries * SLOT_BYTES;
    data = scratch + (long) maxEntries * SLOT_BYTES;
    dataBytes = (int) (address + bytes - data);
  }

  /// Adds an entry.
  ///
  /// @return false if there is no room for it
  public boolean add(KeyBuffer entry) {
    if (count == maxEntries || dataBytes - used < entry.length) {
      return false;
    }
    Native.copyFromArray(entry.bytes, 0, data + used, entry.length);
    long slot = slots + (long) count * SLOT_BYTES;
    Native.putLong(slot, entry.head());
    Native.putLong(slot + 8, (long) used << 32 | entry.length);
    used += entry.length;
    count++;
    ordered = ordered && (count == 1 || isOrdered(slot - SLOT_BYTES, slot));
    return true;
  }

  public int count() {
    return count;
  }

  public void clear() {
    count = 0;
    used = 0;
    ordered = true;
  }

  /// Puts the entries in the order of their bytes, unsigned.
  public void sort() {
    if (!ordered) {
      Native.copy(slots, scratch, (long) count * SLOT_BYTES);
      sort(scratch, slots, 0, count);
      ordered = true;
    }
  }

  long head(int index) {
    return Native.getLong(slots + (long) index * SLOT_BYTES);
  }

  void copyTo(int index, KeyBuffer to) {
    long place = Native.getLong(slots + (long) index * SLOT_BYTES + 8);
    int length = (int) place;
    to.length = 0;
    to.ensure(length);
    Native.copyToArray(data + (place >>> 32), to.bytes, 0, length);
    to.length = length;
  }

  /// Sorts `[from, to)` of `source` into `target`; both hold the same slots at the start.
  private void sort(long source, long target, int from, int to) {
    if (to - from <= INSERTION_SORTED) {
      insertionSort(target, from, to);
      return;
    }
    int middle = (from + to) >>> 1;
    sort(target, source, from, middle);
    sort(target, source, middle, to);
    long left = source + (long) from * SLOT_BYTES;
    long right = source + (long) middle * SLOT_BYTES;
    if (isOrdered(right - SLOT_BYTES, right)) {
      Native.copy(left, target + (long) from * SLOT_BYTES, (long) (to - from) * SLOT_BYTES);
      return;
    }
    long leftEnd = right;
    long rightEnd = source + (long) to * SLOT_BYTES;
    long at = target + (long) from * SLOT_BYTES;
    while (left < leftEnd && right < rightEnd) {
      if (isOrdered(left, right)) {
        move(left, at);
        left += SLOT_BYTES;
      } else {
        move(right, at);
        right += SLOT_BYTES;
      }
      at += SLOT_BYTES;
    }
    // What is left of one of them; the other has nothing.
    Native.copy(left, at, leftEnd - left);
    Native.copy(right, at, rightEnd - right);
  }

  private void insertionSort(long target, int from, int to) {
    long first = target + (long) from * SLOT_BYTES;
    long end = target + (long) to * SLOT_BYTES;
    for (long next = first + SLOT_BYTES; next < end; next += SLOT_BYTES) {
      long head = Native.getLong(next);
      long place = Native.getLong(next + 8);
      long at = next;
      while (at > first
          && compare(
                  Native.getLong(at - SLOT_BYTES), Native.getLong(at - SLOT_BYTES + 8), head, place)
              > 0) {
        move(at - SLOT_BYTES, at);
        at -= SLOT_BYTES;
      }
      Native.putLong(at, head);
      Native.putLong(at + 8, place);
    }
  }

  private static void move(long from, long to) {
    Native.putLong(to, Native.getLong(from));
    Native.putLong(to + 8, Native.getLong(from + 8));
  }

  private boolean isOrdered(long slotA, long slotB) {
    return compare(
            Native.getLong(slotA),
            Native.getLong(slotA + 8),
            Native.getLong(slotB),
            Native.getLong(slotB + 8))
        <= 0;
  }

  private int compare(long headA, long placeA, long headB, long placeB) {
    return headA != headB
        ? Long.compareUnsigned(headA, headB)
        : compareTails(data + (placeA >>> 32), (int) placeA, data + (placeB >>> 32), (int) placeB);
  }

  /// Compares two entries with equal heads: the shorter is the lesser if the longer goes on with it.
  private static int compareTails(long a, int lengthA, long b, int lengthB) {
    int common = Math.min(lengthA, lengthB);
    int i = Long.BYTES;
    for (; i + Long.BYTES <= common; i += Long.BYTES) {
      long wordA = Native.getLongUnaligned(a + i);
      long wordB = Native.getLongUnaligned(b + i);
      if (wordA != wordB) {
        return Long.compareUnsigned(Long.reverseBytes(wordA), Long.reverseBytes(wordB));
      }
    }
    for (; i < common; i++) {
      int difference = (Native.getByte(a + i) & 0xFF) - (Native.getByte(b + i) & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return lengthA - lengthB;
  }
}
