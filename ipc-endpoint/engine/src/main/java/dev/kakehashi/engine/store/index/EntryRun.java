package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.Native;

/// Entries collected to be put in order, for a tree to be built of them. Confined to one thread at a time; the memory is the
/// caller's.
///
/// Each entry has a slot of two words, 8 of its bytes as a number, then where all its bytes are and how many. Slots are sorted, the bytes
/// stay where they are: by the first digits of the number that can tell them from each other, the last of these first (Knuth, TAOCP 3,
/// 5.2.5), then what is equal by those that are left, then by the next 8 bytes, and so on. Few slots are merged (5.2.4), entries that come
/// in order are not sorted at all, as keys that were given out one after another do.
///
/// Slots grow from the beginning of the memory, bytes from its end; what is between them has room for the slots once more, for sorting.
public final class EntryRun {
  private static final int SLOT_BYTES = 16;
  private static final int INSERTION_SORTED = 16;

  /// From here on digits are quicker than merging.
  private static final int DIGIT_SORTED = 512;

  /// So many times as many values as slots are enough for few slots to have the same.
  private static final long SPARSE = 4;

  /// Entries whose beginnings are read before they are copied.
  private static final int COPIED = 32;

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

  /// Whether all entries, which are sorted, are greater than all of a leaf.
  boolean isBehind(long leaf) {
    int last = IndexNode.count(leaf) - 1;
    long place = Native.getLong(slots + 8);
    return compare(
            number(place, 0),
            data(place),
            (int) place,
            IndexNode.head(leaf, last),
            IndexNode.address(leaf, last),
            IndexNode.keyLength(leaf, last))
        > 0;
  }

  /// Copies all entries, which are sorted, to the end of a chain.
  ///
  /// @param fill see [LeafChain#append]
  void copyTo(LeafChain chain, int fill) {
    long[] heads = new long[COPIED];
    for (int from = 0; from < count; from += COPIED) {
      int block = Math.min(COPIED, count - from);
      long first = slots + (long) from * SLOT_BYTES;
      // Before the first of them is copied, for so the processor waits for all of their memory at a
      // time.
      for (int i = 0; i < block; i++) {
        heads[i] = number(Native.getLong(first + (long) i * SLOT_BYTES + 8), 0);
      }
      for (int i = 0; i < block; i++) {
        long place = Native.getLong(first + (long) i * SLOT_BYTES + 8);
        chain.append(heads[i], data(place), (int) place, fill);
      }
    }
  }

  /// Compares two entries, given the first 8 bytes of each as a number.
  static int compare(long headA, long a, int lengthA, long headB, long b, int lengthB) {
    return headA != headB
        ? Long.compareUnsigned(headA, headB)
        : compareTails(a, lengthA, b, lengthB, Long.BYTES);
  }

  private long data(long place) {
    return end - (place >>> 32);
  }

  /// Sorts the slots `[from, to)`, which have the 8 bytes at `depth` as their numbers and do not differ before.
  private void sort(int from, int to, int depth) {
    long first = slots + (long) from * SLOT_BYTES;
    long last = slots + (long) to * SLOT_BYTES;
    if (to - from <= INSERTION_SORTED) {
      insertionSort(slots, from, to, depth);
      return;
    }
    if (to - from < DIGIT_SORTED || !reaches(first, last, depth + Long.BYTES)) {
      long scratch = scratch();
      Native.copy(first, scratch, last - first);
      mergeSort(scratch, first, 0, to - from, depth);
      return;
    }
    long sorted = sortByDigits(first, to - from);
    int next = depth + Long.BYTES;
    for (int start = from; start < to; ) {
      long prefix = number(start) & sorted;
      int after = start + 1;
      while (after < to && (number(after) & sorted) == prefix) {
        after++;
      }
      if (after > start + 1) {
        if (sorted != -1) {
          sort(start, after, depth);
        } else {
          for (long slot = slots + (long) start * SLOT_BYTES;
              slot < slots + (long) after * SLOT_BYTES;
              slot += SLOT_BYTES) {
            Native.putLong(slot, number(Native.getLong(slot + 8), next));
          }
          sort(start, after, next);
        }
      }
      start = after;
    }
  }

  private long number(int slot) {
    return Native.getLong(slots + (long) slot * SLOT_BYTES);
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

  /// Sorts by the first digits, as many as are likely to tell most slots from each other.
  ///
  /// @return the bits of the number that they are sorted by, the highest ones
  private long sortByDigits(long first, int slotCount) {
    int[] counts = new int[DIGITS * DIGIT_VALUES];
    long last = first + (long) slotCount * SLOT_BYTES;
    for (long slot = first; slot < last; slot += SLOT_BYTES) {
      long number = Native.getLong(slot);
      for (int digit = 0; digit < DIGITS; digit++) {
        counts[digit * DIGIT_VALUES + (int) (number >>> (8 * digit) & 0xFF)]++;
      }
    }
    int lowest = DIGITS;
    for (long groups = 1; lowest > 0 && groups < SPARSE * slotCount; ) {
      lowest--;
      groups *= distinct(counts, lowest * DIGIT_VALUES);
    }
    long source = first;
    long target = scratch();
    for (int digit = lowest; digit < DIGITS; digit++) {
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
    return -1L << (8 * lowest);
  }

  private static int distinct(int[] counts, int table) {
    int distinct = 0;
    for (int i = table; i < table + DIGIT_VALUES; i++) {
      distinct += counts[i] == 0 ? 0 : 1;
    }
    return distinct;
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
    // The rest of one half; the other half is used up.
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
