package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.protocol.layout.StoreNodeLayout;

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
///     32    12n slots      head (first 8 bytes of the key as a number), u16 offset, u15 length of the key, u1 whether it is a [LongKey]
/// ```
///
/// A key that is too long for a node is there in the form of a [LongKey]. An entry of a leaf is a key without its head, which only the slot
/// has; of an inner node the address of the child for keys from this key on, then such a key.
///
/// Reads may run beside a writer: every offset and count is cut to the node before use, so that a torn node yields nonsense
/// but no access outside; the reader validates the version before it believes anything.
final class IndexNode {
  static final int BYTES = MemoryPool.NODE_BYTES;
  static final int HEADER_BYTES = StoreNodeLayout.HEAD_BYTES;
  static final int SLOT_BYTES = 12;

  /// Bytes of a key that its slot has, as a number.
  static final int HEAD_BYTES = 8;

  /// Bytes of the address before the key, in inner nodes.
  static final int CHILD_BYTES = 8;

  /// The longest key that is in a node itself: three of them fit into one, so that a split always makes room.
  static final int MAX_KEY_BYTES = (BYTES - HEADER_BYTES) / 3 - SLOT_BYTES - CHILD_BYTES;

  /// In a slot's length.
  private static final int LONG = 0x8000;

  private static final int MAX_COUNT = (BYTES - HEADER_BYTES) / SLOT_BYTES;
  private static final int LEVEL = StoreNodeLayout.LEVEL_OFFSET;
  private static final int COUNT = StoreNodeLayout.COUNT_OFFSET;
  private static final int HEAP_START = StoreNodeLayout.HEAP_START_OFFSET;
  private static final int HEAP_USED = StoreNodeLayout.HEAP_USED_OFFSET;
  private static final int LEFTMOST = StoreNodeLayout.LEFTMOST_OFFSET;

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

  /// Where an entry is, cut to the node.
  ///
  /// @param prefix bytes that it has at least
  private static int entryOffset(long node, int index, int prefix) {
    return Math.min(BYTES - prefix, Native.getUnsignedShort(slot(node, index) + 8));
  }

  /// Where the key of a slot would begin if its head were before the rest.
  private static int keyOffset(long node, int index, int prefix) {
    return entryOffset(node, index, prefix) + prefix - HEAD_BYTES;
  }

  /// Bytes of an entry's key outside of the slot.
  static int tailBytes(int keyLength) {
    return Math.max(0, keyLength - HEAD_BYTES);
  }

  /// Bytes that the key of a slot has.
  static int keyLength(long node, int index) {
    return Native.getUnsignedShort(slot(node, index) + 10) & ~LONG;
  }

  /// Whether the key of a slot is there in the form of a [LongKey].
  static boolean isLong(long node, int index) {
    return (Native.getUnsignedShort(slot(node, index) + 10) & LONG) != 0;
  }

  /// Form of a slot's key in a node that does not change meanwhile.
  static KeyBuffer form(long node, int index) {
    int length = keyLength(node, index);
    KeyBuffer form = new KeyBuffer(length);
    copyPart(node, index, keyOffset(node, index, prefixBytes(node)), form, length);
    return form;
  }

  /// Appends the first bytes of a slot's key, or of its form.
  private static void copyPart(long node, int index, int offset, KeyBuffer to, int length) {
    to.putHead(head(node, index), length);
    int tail = tailBytes(length);
    to.ensure(tail);
    Native.copyToArray(node + offset + HEAD_BYTES, to.bytes, to.length, tail);
    to.length += tail;
  }

  /// The first 8 bytes of the key of a slot as a number.
  static long head(long node, int index) {
    return Native.getLongUnaligned(slot(node, index));
  }

  /// Where the key of a slot is, from its ninth byte on: those before are the head.
  static long address(long node, int index) {
    return node + keyOffset(node, index, prefixBytes(node));
  }

  /// The last 8 bytes of a slot's key as a number, in a node that stands still. The key has so many.
  static long lastLong(long node, int index) {
    int length = keyLength(node, index);
    long address = address(node, index);
    if (length >= HEAD_BYTES + Long.BYTES) {
      return Long.reverseBytes(Native.getLongUnaligned(address + length - Long.BYTES));
    }
    long last = head(node, index);
    for (int i = HEAD_BYTES; i < length; i++) {
      last = last << Byte.SIZE | (Native.getByte(address + i) & 0xFF);
    }
    return last;
  }

  /// Whether the keys of two slots, in nodes that stand still, begin with the same bytes.
  static boolean beginEqual(long nodeA, int indexA, long nodeB, int indexB, int bytes) {
    return bytes >= HEAD_BYTES
        ? head(nodeA, indexA) == head(nodeB, indexB)
            && Native.equalBytes(
                address(nodeA, indexA) + HEAD_BYTES,
                address(nodeB, indexB) + HEAD_BYTES,
                bytes - HEAD_BYTES)
        : headBegins(head(nodeA, indexA), head(nodeB, indexB), bytes);
  }

  /// Whether the key of a slot, in a node that stands still, begins with bytes of another key.
  static boolean beginsWith(long node, int index, KeyBuffer key, long head, int bytes) {
    if (bytes < HEAD_BYTES) {
      return headBegins(head(node, index), head, bytes);
    }
    return head(node, index) == head
        && compareBytes(address(node, index) + HEAD_BYTES, key, HEAD_BYTES, bytes - HEAD_BYTES)
            == 0;
  }

  private static boolean headBegins(long a, long b, int bytes) {
    return bytes == 0 || (a ^ b) >>> (Long.SIZE - Byte.SIZE * bytes) == 0;
  }

  /// Copies the key of a slot beside writers, cut to the node; nonsense if the version does not validate afterwards.
  static void copyKey(long node, int index, KeyBuffer to, int at) {
    copyKey(node, index, to, at, false);
  }

  /// Copies the key of a slot of a node that stands still.
  static void copyStillKey(long node, int index, KeyBuffer to, int at) {
    copyKey(node, index, to, at, true);
  }

  private static void copyKey(long node, int index, KeyBuffer to, int at, boolean still) {
    int offset = keyOffset(node, index, prefixBytes(node));
    int length = Math.max(0, Math.min(keyLength(node, index), BYTES - offset));
    to.length = at;
    if (isLong(node, index)) {
      copyLongKey(node, index, offset, length, to, still);
    } else {
      copyPart(node, index, offset, to, length);
    }
  }

  private static void copyLongKey(
      long node, int index, int offset, int bytes, KeyBuffer to, boolean still) {
    long version = still ? 0 : NodeLatch.stableVersion(node);
    int length = bytes < LongKey.PREFIX_BYTES + Long.BYTES ? 0 : LongKey.keyLength(node + offset);
    if (!mayFollow(node, version, still)) {
      return;
    }
    to.ensure(length);
    copyPart(node, index, offset, to, LongKey.PREFIX_BYTES);
    for (int at = LongKey.PREFIX_BYTES, i = 0; at < length; at += LongKey.BLOCK_BYTES, i++) {
      long block = LongKey.block(node + offset, i);
      if (!mayFollow(node, version, still)) {
        return;
      }
      int count = Math.min(LongKey.BLOCK_BYTES, length - at);
      Native.copyToArray(block + Long.BYTES, to.bytes, to.length, count);
      to.length += count;
    }
  }

  /// Whether what has been read of a node since it had a version is true, so that it may be followed to a block of a long key.
  ///
  /// A latch that is held meanwhile is waited for: it may be released unchanged, and then the caller would validate what was not read.
  ///
  /// @param still whether the node stands still
  private static boolean mayFollow(long node, long version, boolean still) {
    return still || NodeLatch.validateStable(node, version);
  }

  /// Child `index`, from -1 (leftmost). Only meaningful if the version validates afterwards.
  static long child(long node, int index) {
    return index < 0
        ? Native.getLong(node + LEFTMOST)
        : Native.getLongUnaligned(node + entryOffset(node, index, CHILD_BYTES));
  }

  /// Number of slots whose key is less than `key` (or, with `orEqual`, not greater).
  static int position(long node, KeyBuffer key, long head, boolean orEqual) {
    return position(node, key, head, orEqual, false);
  }

  /// The same of a node that stands still.
  static int stillPosition(long node, KeyBuffer key, long head, boolean orEqual) {
    return position(node, key, head, orEqual, true);
  }

  private static int position(long node, KeyBuffer key, long head, boolean orEqual, boolean still) {
    int low = 0;
    int high = count(node);
    int prefix = prefixBytes(node);
    while (low < high) {
      int middle = (low + high) >>> 1;
      long slotHead = Native.getLongUnaligned(slot(node, middle));
      int order = Long.compareUnsigned(slotHead, head);
      if (order == 0) {
        order = compareTail(node, middle, prefix, key, still);
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
    return order != 0 ? order : compareTail(node, index, prefix, key, false);
  }

  /// Whether a slot of a node that stands still has a key.
  static boolean equals(long node, int index, KeyBuffer key, long head) {
    return index < count(node)
        && Native.getLongUnaligned(slot(node, index)) == head
        && compareTail(node, index, prefixBytes(node), key, true) == 0;
  }

  /// Compares what follows the first 8 bytes.
  private static int compareTail(long node, int index, int prefix, KeyBuffer key, boolean still) {
    int offset = keyOffset(node, index, prefix);
    int length = Math.max(0, Math.min(keyLength(node, index), BYTES - offset));
    if (isLong(node, index)) {
      return compareLongTail(node, offset, length, key, still);
    }
    int common = Math.min(length, key.length);
    // Equal heads: up to 8 bytes the shorter string is a prefix of the longer one, whose next bytes
    // are 0.
    int i = HEAD_BYTES;
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

  private static int compareLongTail(
      long node, int offset, int bytes, KeyBuffer key, boolean still) {
    long version = still ? 0 : NodeLatch.stableVersion(node);
    int order =
        compareBytes(
            node + offset + HEAD_BYTES,
            key,
            HEAD_BYTES,
            Math.min(LongKey.PREFIX_BYTES, Math.min(bytes, key.length)) - HEAD_BYTES);
    if (order != 0 || key.length <= LongKey.PREFIX_BYTES) {
      return order != 0 ? order : 1;
    }
    int length = bytes < LongKey.PREFIX_BYTES + Long.BYTES ? 0 : LongKey.keyLength(node + offset);
    int common = Math.min(length, key.length);
    for (int at = LongKey.PREFIX_BYTES, i = 0; at < common; at += LongKey.BLOCK_BYTES, i++) {
      long block = LongKey.block(node + offset, i);
      if (!mayFollow(node, version, still)) {
        return 1;
      }
      int count = Math.min(LongKey.BLOCK_BYTES, common - at);
      order = compareBytes(block + Long.BYTES, key, at, count);
      if (order != 0) {
        return order;
      }
    }
    return length - key.length;
  }

  /// Compares bytes in memory with those of a key from `at` on.
  private static int compareBytes(long address, KeyBuffer key, int at, int count) {
    int i = 0;
    for (; i + 8 <= count; i += 8) {
      long a = Long.reverseBytes(Native.getLongUnaligned(address + i));
      long b = KeyBuffer.longAt(key.bytes, at + i);
      if (a != b) {
        return Long.compareUnsigned(a, b);
      }
    }
    for (; i < count; i++) {
      int difference = (Native.getByte(address + i) & 0xFF) - (key.bytes[at + i] & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return 0;
  }

  /// Whether a key of `keyLength` bytes fits, perhaps after [#compact].
  static boolean hasRoom(long node, int keyLength) {
    int used = HEADER_BYTES + count(node) * SLOT_BYTES + Native.getUnsignedShort(node + HEAP_USED);
    return BYTES - used >= SLOT_BYTES + prefixBytes(node) + tailBytes(keyLength);
  }

  /// Inserts at `index` into a latched node that has room.
  static void insert(long node, int index, KeyBuffer key, long child) {
    insert(node, index, key, false, child);
  }

  /// Inserts at `index` into a latched node that has room.
  ///
  /// @param key or the form of a long one
  static void insert(long node, int index, KeyBuffer key, boolean isLong, long child) {
    int prefix = prefixBytes(node);
    int tail = tailBytes(key.length);
    int size = prefix + tail;
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
    Native.copyFromArray(key.bytes, key.length - tail, node + offset + prefix, tail);
    long slot = slot(node, index);
    Native.copy(slot, slot + SLOT_BYTES, (long) (count - index) * SLOT_BYTES);
    Native.putLongUnaligned(slot, key.head());
    Native.putShort(slot + 8, offset);
    Native.putShort(slot + 10, isLong ? key.length | LONG : key.length);
    Native.putShort(node + COUNT, count + 1);
  }

  /// Adds an entry to a leaf that has room for it without [#compact], behind all that it has.
  ///
  /// @param address of the key, from its ninth byte on
  static void append(long leaf, long head, long address, int length) {
    int count = count(leaf);
    int tail = tailBytes(length);
    int offset = Native.getUnsignedShort(leaf + HEAP_START) - tail;
    assert offset >= HEADER_BYTES + (count + 1) * SLOT_BYTES : "no room in index node";
    Native.putShort(leaf + HEAP_START, offset);
    Native.putShort(leaf + HEAP_USED, Native.getUnsignedShort(leaf + HEAP_USED) + tail);
    Native.copyApart(address + HEAD_BYTES, leaf + offset, tail);
    long slot = slot(leaf, count);
    Native.putLongUnaligned(slot, head);
    Native.putShort(slot + 8, offset);
    Native.putShort(slot + 10, length);
    Native.putShort(leaf + COUNT, count + 1);
  }

  /// Removes slot `index` of a latched node.
  static void remove(long node, int index) {
    int count = count(node);
    int size = prefixBytes(node) + tailBytes(keyLength(node, index));
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
    int count = count(node);
    for (int i = from; i < count; i++) {
      long child = prefixBytes(node) == 0 ? 0 : child(node, i);
      insert(to, count(to), form(node, i), isLong(node, i), child);
    }
    for (int i = count - 1; i >= from; i--) {
      remove(node, i);
    }
  }

  /// The slot at which the left half has about half of the bytes; at least 1 and less than the count.
  static int middle(long node) {
    return Math.max(1, Math.min(count(node) - 1, middleSlot(node) + 1));
  }

  /// The slot in which the middle of the bytes lies. The slots before it, and those behind it, have half of them at most: without it each
  /// side of a node that has no room has room for any key.
  static int middleSlot(long node) {
    int count = count(node);
    int half = (Native.getUnsignedShort(node + HEAP_USED) + count * SLOT_BYTES) / 2;
    int sum = 0;
    int slot = -1;
    while (sum < half) {
      slot++;
      sum += SLOT_BYTES + prefixBytes(node) + tailBytes(keyLength(node, slot));
    }
    return slot;
  }

  /// Closes the gaps that removed entries have left.
  private static void compact(long node) {
    byte[] copy = new byte[BYTES];
    Native.copyToArray(node, copy, 0, BYTES);
    int prefix = prefixBytes(node);
    int at = BYTES;
    int count = count(node);
    for (int i = 0; i < count; i++) {
      int size = prefix + tailBytes(keyLength(node, i));
      int offset = entryOffset(node, i, prefix);
      at -= size;
      Native.copyFromArray(copy, offset, node + at, size);
      Native.putShort(slot(node, i) + 8, at);
    }
    Native.putShort(node + HEAP_START, at);
  }
}
