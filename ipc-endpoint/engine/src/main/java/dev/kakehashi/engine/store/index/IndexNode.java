package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;

/// Layout of a node of an [OrderedTree], and the operations on one node.
///
/// ```
/// offset  size  field
///      0     8  version    even: free; odd: latched by a writer. Only grows, also while the node is unused
///      8     2  level      0: leaf
///     10     2  count      slots
///     12     2  heapStart  lowest offset in use by entries; entries grow downwards from the end
///     14     2  heapUsed   bytes of live entries
///     16     8  leftmost   child for keys below slot 0 (inner nodes)
///     24     8  unused
///     32    12n slots      head (first 8 bytes of the key as a number), u16 offset, u16 length of the key
/// ```
///
/// An entry of a leaf is a key; of an inner node the address of the child for keys from this key on, then the key.
///
/// Reads may run beside a writer: every offset and count is cut to the node before use, so that a torn node yields nonsense
/// but no access outside; the reader validates the version before it believes anything.
final class IndexNode {
  static final int BYTES = MemoryPool.NODE_BYTES;
  static final int HEADER_BYTES = 32;
  static final int SLOT_BYTES = 12;

  /// Of the address before the key, in inner nodes.
  static final int CHILD_BYTES = 8;

  private static final int MAX_COUNT = (BYTES - HEADER_BYTES) / SLOT_BYTES;
  private static final int LEVEL = 8;
  private static final int COUNT = 10;
  private static final int HEAP_START = 12;
  private static final int HEAP_USED = 14;
  private static final int LEFTMOST = 16;

  private IndexNode() {}

  static void initialize(long node, int level, long leftmost) {
    Native.putShort(node + LEVEL, level);
    Native.putShort(node + COUNT, 0);
    Native.putShort(node + HEAP_START, BYTES);
    Native.putShort(node + HEAP_USED, 0);
    Native.putLong(node + LEFTMOST, leftmost);
  }

  static int level(long node) {
    return Native.getUnsignedShort(node + LEVEL);
  }

  static int count(long node) {
    return Math.min(MAX_COUNT, Native.getUnsignedShort(node + COUNT));
  }

  /// Bytes of the child pointer before the key.
  static int prefixBytes(long node) {
    return level(node) == 0 ? 0 : CHILD_BYTES;
  }

  private static long slot(long node, int index) {
    return node + HEADER_BYTES + (long) index * SLOT_BYTES;
  }

  private static int entryOffset(long node, int index) {
    return Math.min(BYTES - 8, Native.getUnsignedShort(slot(node, index) + 8));
  }

  static int keyLength(long node, int index) {
    return Native.getUnsignedShort(slot(node, index) + 10);
  }

  /// The first 8 bytes of the key of a slot as a number.
  static long head(long node, int index) {
    return Native.getLongUnaligned(slot(node, index));
  }

  /// Where the key of a slot is.
  static long address(long node, int index) {
    return node + entryOffset(node, index) + prefixBytes(node);
  }

  /// Copies the key of a slot, cut to the node.
  static int copyKey(long node, int index, KeyBuffer to, int at) {
    int offset = entryOffset(node, index) + prefixBytes(node);
    int length = Math.max(0, Math.min(keyLength(node, index), BYTES - offset));
    to.length = at;
    to.ensure(length);
    Native.copyToArray(node + offset, to.bytes, at, length);
    to.length = at + length;
    return length;
  }

  /// Child `index`, from -1 (leftmost). Only meaningful if the version validates afterwards.
  static long child(long node, int index) {
    return index < 0
        ? Native.getLong(node + LEFTMOST)
        : Native.getLongUnaligned(node + entryOffset(node, index));
  }

  /// Number of slots whose key is less than `key` (or, with `orEqual`, not greater).
  static int position(long node, KeyBuffer key, long head, boolean orEqual) {
    return position(node, 0, key, head, orEqual);
  }

  /// The same, where it is known that the slots before `from` belong to them.
  static int position(long node, int from, KeyBuffer key, long head, boolean orEqual) {
    int low = from;
    int high = count(node);
    int prefix = prefixBytes(node);
    while (low < high) {
      int middle = (low + high) >>> 1;
      long slotHead = Native.getLongUnaligned(slot(node, middle));
      int order = Long.compareUnsigned(slotHead, head);
      if (order == 0) {
        order = compareTail(node, middle, prefix, key);
      }
      if (order < 0 || (orEqual && order == 0)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// The first slot from `from` on whose key is not less than `bound`. Looks near `from` first: most ranges are short.
  static int firstFrom(long node, int from, KeyBuffer bound) {
    long head = bound.head();
    int prefix = prefixBytes(node);
    int count = count(node);
    int near = Math.min(count, from + 2);
    for (int i = from; i < near; i++) {
      if (compare(node, i, prefix, bound, head) >= 0) {
        return i;
      }
    }
    return near == count ? count : Math.max(from, position(node, bound, head, false));
  }

  private static int compare(long node, int index, int prefix, KeyBuffer key, long head) {
    int order = Long.compareUnsigned(Native.getLongUnaligned(slot(node, index)), head);
    return order != 0 ? order : compareTail(node, index, prefix, key);
  }

  static boolean equals(long node, int index, KeyBuffer key, long head) {
    return index < count(node)
        && Native.getLongUnaligned(slot(node, index)) == head
        && compareTail(node, index, prefixBytes(node), key) == 0;
  }

  /// Compares what follows the first 8 bytes.
  private static int compareTail(long node, int index, int prefix, KeyBuffer key) {
    int offset = entryOffset(node, index) + prefix;
    int length = Math.max(0, Math.min(keyLength(node, index), BYTES - offset));
    int common = Math.min(length, key.length);
    // Equal heads: up to 8 bytes the shorter string is a prefix of the longer one, whose next bytes
    // are 0.
    int i = 8;
    for (; i + 8 <= common; i += 8) {
      long a = Long.reverseBytes(Native.getLongUnaligned(node + offset + i));
      long b = KeyBuffer.longAt(key.bytes, i);
      if (a != b) {
        return Long.compareUnsigned(a, b);
      }
    }
    for (; i < common; i++) {
      int difference = (Native.getByte(node + offset + i) & 0xFF) - (key.bytes[i] & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return length - key.length;
  }

  /// Whether a key of `keyLength` bytes fits, perhaps after [#compact].
  static boolean hasRoom(long node, int keyLength) {
    int used = HEADER_BYTES + count(node) * SLOT_BYTES + Native.getUnsignedShort(node + HEAP_USED);
    return BYTES - used >= SLOT_BYTES + prefixBytes(node) + keyLength;
  }

  /// Inserts at `index` into a latched node that has room.
  static void insert(long node, int index, KeyBuffer key, long child) {
    int prefix = prefixBytes(node);
    int size = prefix + key.length;
    int count = count(node);
    int slotsEnd = HEADER_BYTES + (count + 1) * SLOT_BYTES;
    if (Native.getUnsignedShort(node + HEAP_START) - size < slotsEnd) {
      compact(node);
    }
    int offset = Native.getUnsignedShort(node + HEAP_START) - size;
    assert offset >= slotsEnd : "no room in index node";
    Native.putShort(node + HEAP_START, offset);
    Native.putShort(node + HEAP_USED, Native.getUnsignedShort(node + HEAP_USED) + size);
    if (prefix != 0) {
      Native.putLongUnaligned(node + offset, child);
    }
    Native.copyFromArray(key.bytes, 0, node + offset + prefix, key.length);
    long slot = slot(node, index);
    Native.copy(slot, slot + SLOT_BYTES, (long) (count - index) * SLOT_BYTES);
    Native.putLongUnaligned(slot, key.head());
    Native.putShort(slot + 8, offset);
    Native.putShort(slot + 10, key.length);
    Native.putShort(node + COUNT, count + 1);
  }

  /// Adds an entry to a leaf that has room for it without [#compact], behind all that it has.
  static void append(long leaf, long head, long address, int length) {
    int count = count(leaf);
    int offset = Native.getUnsignedShort(leaf + HEAP_START) - length;
    assert offset >= HEADER_BYTES + (count + 1) * SLOT_BYTES : "no room in index node";
    Native.putShort(leaf + HEAP_START, offset);
    Native.putShort(leaf + HEAP_USED, Native.getUnsignedShort(leaf + HEAP_USED) + length);
    Native.copyApart(address, leaf + offset, length);
    long slot = slot(leaf, count);
    Native.putLongUnaligned(slot, head);
    Native.putShort(slot + 8, offset);
    Native.putShort(slot + 10, length);
    Native.putShort(leaf + COUNT, count + 1);
  }

  /// Removes slot `index` of a latched node.
  static void remove(long node, int index) {
    int count = count(node);
    int size = prefixBytes(node) + keyLength(node, index);
    Native.putShort(node + HEAP_USED, Native.getUnsignedShort(node + HEAP_USED) - size);
    long slot = slot(node, index);
    Native.copy(slot + SLOT_BYTES, slot, (long) (count - index - 1) * SLOT_BYTES);
    Native.putShort(node + COUNT, count - 1);
    if (count == 1) {
      Native.putShort(node + HEAP_START, BYTES);
    }
  }

  static void setLeftmost(long node, long child) {
    Native.putLong(node + LEFTMOST, child);
  }

  /// Moves the slots from `from` on of a latched node to the end of another one of the same level.
  static void moveTail(long node, int from, long to) {
    KeyBuffer key = new KeyBuffer(64);
    int count = count(node);
    for (int i = from; i < count; i++) {
      copyKey(node, i, key, 0);
      insert(to, count(to), key, prefixBytes(node) == 0 ? 0 : child(node, i));
    }
    for (int i = count - 1; i >= from; i--) {
      remove(node, i);
    }
  }

  /// The slot at which the left half has about half of the bytes; at least 1 and less than the count.
  static int middle(long node) {
    int count = count(node);
    int half = (Native.getUnsignedShort(node + HEAP_USED) + count * SLOT_BYTES) / 2;
    int sum = 0;
    for (int i = 0; i < count; i++) {
      sum += SLOT_BYTES + prefixBytes(node) + keyLength(node, i);
      if (sum >= half) {
        return Math.max(1, Math.min(count - 1, i + 1));
      }
    }
    return Math.max(1, count - 1);
  }

  /// Closes the gaps that removed entries have left.
  private static void compact(long node) {
    byte[] copy = new byte[BYTES];
    Native.copyToArray(node, copy, 0, BYTES);
    int prefix = prefixBytes(node);
    int at = BYTES;
    int count = count(node);
    for (int i = 0; i < count; i++) {
      int size = prefix + keyLength(node, i);
      int offset = entryOffset(node, i);
      at -= size;
      Native.copyFromArray(copy, offset, node + at, size);
      Native.putShort(slot(node, i) + 8, at);
    }
    Native.putShort(node + HEAP_START, at);
  }
}
