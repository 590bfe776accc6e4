package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.Native;

/// Entries collected to be entered into a tree in their order, so that neighbours meet a node one after another. Confined to one thread at a time; the memory is the
/// caller's.
///
/// Each entry has a slot of two words, 8 of its bytes as a number, then where all its bytes are and how many. Slots are sorted, the bytes stay where they are: by
/// the digits of the number, the last one first (Knuth, TAOCP 3, 5.2.5), then what is equal in these 8 bytes by the next 8 of its own, and so on. Few slots are merged
/// (5.2.4), entries that come in order are not sorted at all, as keys that were given out one after another do.
///
/// Slots grow from the beginning of the memory, bytes from its end; what is between them has room for the slots once more, for sorting.
public final class EntryRun {
  private static final int SLOT_BYTES = 16;
  private static final int INSERTION_SORTED = 16;

  /// From here on digits are quicker than merging.
  private static final int DIGIT_SORTED = 512;

  private static final int DIGITS = Long.BYTES;
  private static final int DIGIT_VALUES = 256;

  private final long slots;
  private final long end;

  private int count;

  /// Bytes of entries.
  private int used;

  private boolean ordered = true;

  /// @param address a multiple of 8
  /// @param bytes at most 1 GB; an entry needs 32 beside its own
  public EntryRun(long address, int bytes) {
    slots = address;
    end = address + bytes;
  }

  /// Adds an entry. Not between [#sort()] and [#clear()].
  ///
  /// @return false if there is no room for it
  public boolean add(KeyBuffer entry) {
    long data = end - used - entry.length;
    if (data - slots < (count + 1L) * 2 * SLOT_BYTES) {
      return false;
    }
    Native.copyFromArray(entry.bytes, 0, data, entry.length);
    used += entry.length;
    long slot = slots + (long) count * SLOT_BYTES;
    Native.putLong(slot, entry.head());
    Native.putLong(slot + 8, (long) used << 32 | entry.length);
    count++;
    ordered = ordered && (count == 1 || isOrdered(slot - SLOT_BYTES, slot, 0));
    return true;
  }

  public int count() {
    return count;
  }

  /// Whether entries were added in their order.
  public boolean isOrdered() {
    return ordered;
  }

  public void clear() {
    count = 0;
    used = 0;
    ordered = true;
  }

  /// Puts the entries in the order of their bytes, unsigned.
  public void sort() {
    if (!ordered) {
      sort(0, count, 0);
      ordered = true;
    }
  }

  void copyTo(int index, KeyBuffer to) {
    long place = Native.getLong(slots + (long) index * SLOT_BYTES + 8);
    int length = (int) place;
    to.length = 0;
    to.ensure(length);
    Native.copyToArray(data(place), to.bytes, 0, length);
    to.length = length;
  }

  private long data(long place) {
    return end - (place >>> 32);
  }

  /// Sorts the slots `[from, to)`, which have the 8 bytes at `depth` as their numbers and do not differ before.
  private void sort(int from, int to, int depth) {
    long first = slots + (long) from * SLOT_BYTES;
    long last = slots + (long) to * SLOT_BYTES;
    if (to - from < DIGIT_SORTED || !reaches(first, last, depth + Long.BYTES)) {
      long scratch = scratch();
      Native.copy(first, scratch, last - first);
      mergeSort(scratch, first, 0, to - from, depth);
      return;
    }
    sortByDigits(first, to - from);
    int next = depth + Long.BYTES;
    for (int start = from; start < to; ) {
      long number = Native.getLong(slots + (long) start * SLOT_BYTES);
      int after = start + 1;
      while (after < to && Native.getLong(slots + (long) after * SLOT_BYTES) == number) {
        after++;
      }
      if (after > start + 1) {
        for (long slot = slots + (long) start * SLOT_BYTES;
            slot < slots + (long) after * SLOT_BYTES;
            slot += SLOT_BYTES) {
          Native.putLong(slot, number(Native.getLong(slot + 8), next));
        }
        sort(start, after, next);
      }
      start = after;
    }
  }

  /// Behind the slots.
  private long scratch() {
    return slots + (long) count * SLOT_BYTES;
  }

  /// Whether some entry goes on at `depth`.
  private static boolean reaches(long first, long last, int depth) {
    for (long slot = first; slot < last; slot += SLOT_BYTES) {
      if ((int) Native.getLong(slot + 8) > depth) {
        return true;
      }
    }
    return false;
  }

  /// The 8 bytes at `depth` as a number; missing ones are 0.
  private long number(long place, int depth) {
    int rest = (int) place - depth;
    long from = data(place) + depth;
    if (rest >= Long.BYTES) {
      return Long.reverseBytes(Native.getLongUnaligned(from));
    }
    long number = 0;
    for (int i = 0; i < rest; i++) {
      number |= (Native.getByte(from + i) & 0xFFL) << (56 - 8 * i);
    }
    return number;
  }

  private void sortByDigits(long first, int slotCount) {
    int[] counts = new int[DIGITS * DIGIT_VALUES];
    long last = first + (long) slotCount * SLOT_BYTES;
    for (long slot = first; slot < last; slot += SLOT_BYTES) {
      long number = Native.getLong(slot);
      for (int digit = 0; digit < DIGITS; digit++) {
        counts[digit * DIGIT_VALUES + (int) (number >>> (8 * digit) & 0xFF)]++;
      }
    }
    long source = first;
    long target = scratch();
    for (int digit = 0; digit < DIGITS; digit++) {
      int table = digit * DIGIT_VALUES;
      if (counts[table + (int) (Native.getLong(source) >>> (8 * digit) & 0xFF)] == slotCount) {
        continue;
      }
      int before = 0;
      for (int i = table; i < table + DIGIT_VALUES; i++) {
        int here = counts[i];
        counts[i] = before;
        before += here;
      }
      long sourceEnd = source + (last - first);
      for (long slot = source; slot < sourceEnd; slot += SLOT_BYTES) {
        long number = Native.getLong(slot);
        int at = counts[table + (int) (number >>> (8 * digit) & 0xFF)]++;
        long to = target + (long) at * SLOT_BYTES;
        Native.putLong(to, number);
        Native.putLong(to + 8, Native.getLong(slot + 8));
      }
      long sorted = target;
      target = source;
      source = sorted;
    }
    if (source != first) {
      Native.copy(source, first, last - first);
    }
  }

  /// Sorts `[from, to)` of `source` into `target`; both hold the same slots at the start.
  private void mergeSort(long source, long target, int from, int to, int depth) {
    if (to - from <= INSERTION_SORTED) {
      insertionSort(target, from, to, depth);
      return;
    }
    int middle = (from + to) >>> 1;
    mergeSort(target, source, from, middle, depth);
    mergeSort(target, source, middle, to, depth);
    long left = source + (long) from * SLOT_BYTES;
    long right = source + (long) middle * SLOT_BYTES;
    if (isOrdered(right - SLOT_BYTES, right, depth)) {
      Native.copy(left, target + (long) from * SLOT_BYTES, (long) (to - from) * SLOT_BYTES);
      return;
    }
    long leftEnd = right;
    long rightEnd = source + (long) to * SLOT_BYTES;
    long at = target + (long) from * SLOT_BYTES;
    while (left < leftEnd && right < rightEnd) {
      if (isOrdered(left, right, depth)) {
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

  private void insertionSort(long target, int from, int to, int depth) {
    long first = target + (long) from * SLOT_BYTES;
    long last = target + (long) to * SLOT_BYTES;
    for (long next = first + SLOT_BYTES; next < last; next += SLOT_BYTES) {
      long number = Native.getLong(next);
      long place = Native.getLong(next + 8);
      long at = next;
      while (at > first
          && compare(
                  Native.getLong(at - SLOT_BYTES),
                  Native.getLong(at - SLOT_BYTES + 8),
                  number,
                  place,
                  depth)
              > 0) {
        move(at - SLOT_BYTES, at);
        at -= SLOT_BYTES;
      }
      Native.putLong(at, number);
      Native.putLong(at + 8, place);
    }
  }

  private static void move(long from, long to) {
    Native.putLong(to, Native.getLong(from));
    Native.putLong(to + 8, Native.getLong(from + 8));
  }

  private boolean isOrdered(long slotA, long slotB, int depth) {
    return compare(
            Native.getLong(slotA),
            Native.getLong(slotA + 8),
            Native.getLong(slotB),
            Native.getLong(slotB + 8),
            depth)
        <= 0;
  }

  /// Compares two entries by their numbers, the 8 bytes at `depth`, and what follows.
  private int compare(long numberA, long placeA, long numberB, long placeB, int depth) {
    return numberA != numberB
        ? Long.compareUnsigned(numberA, numberB)
        : compareTails(data(placeA), (int) placeA, data(placeB), (int) placeB, depth + Long.BYTES);
  }

  /// Compares two entries that are equal before `from`: the shorter is the lesser if the longer goes on with it.
  private static int compareTails(long a, int lengthA, long b, int lengthB, int from) {
    int common = Math.min(lengthA, lengthB);
    int i = from;
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
