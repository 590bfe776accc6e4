package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.layout.StoreIndexLayout;
import dev.kakehashi.protocol.layout.StoreNodeLayout;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// From a key to rows: down a B+-tree whose nodes others change, as the store's `OrderedTree` does it. One thread.
///
/// The version of a child is read between two looks at its parent's: the first says that the address was a child's, the second that it
/// still was when the child's version was noted. A node that has been freed is told by a greater version as long as its memory is that of
/// nodes; the caller looks at `moved` of the head for the rest.
final class DirectIndex {
  private static final int NODE_BYTES = 8192;
  private static final int SLOT_BYTES = 12;
  private static final int HEAD_BYTES = 8;
  private static final int CHILD_BYTES = 8;
  private static final int LONG_KEY = 0x8000;
  private static final int ROW_BYTES = 8;
  private static final int MOST_SLOTS = (NODE_BYTES - StoreNodeLayout.HEAD_BYTES) / SLOT_BYTES;

  /// No tree is so high: what goes deeper has been torn.
  private static final int MOST_LEVELS = 32;

  /// Slots are 12 bytes each, so words in them are not aligned: one may be torn, and is found out later.
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final MemorySegment memory;
  private final long there;
  private final DirectKey key;

  /// The leaf that was gone down to, and its version.
  private long leaf;

  private long leafVersion;

  /// Whether the next leaf may have entries of the key, too.
  private boolean mayGoOn;

  /// Whether the last slot that was compared has a key of which only the begin is in the node.
  private boolean isLong;

  /// Where the bytes of the last slot lie that are not in the slot itself, and how many.
  private long tail;

  private int tailBytes;
  private long row;

  DirectIndex(StoreMemory store, DirectKey key) {
    this.memory = store.memory();
    this.there = store.there();
    this.key = key;
  }

  /// Goes down to the leaf where the key's entries begin.
  ///
  /// @param index offset of its cell
  /// @return FOUND, TORN or ELSE
  DirectFound descend(long index, long limit) {
    long rootAt = index + StoreIndexLayout.ROOT_OFFSET;
    long root = SharedMemory.getLongAcquire(memory, rootAt);
    long node = root - there;
    mayGoOn = false;
    if (!isNode(node, limit)) {
      return DirectFound.TORN;
    }
    long version = version(node);
    if ((version & 1) != 0 || SharedMemory.getLongAcquire(memory, rootAt) != root) {
      return DirectFound.TORN;
    }
    for (int levels = 0; level(node) != 0; levels++) {
      int slot = childSlot(node);
      if (isLong) {
        return isUnchanged(node, version) ? DirectFound.ELSE : DirectFound.TORN;
      }
      if (slot < count(node)) {
        mayGoOn = begins(node, slot, CHILD_BYTES);
      }
      long next = child(node, slot) - there;
      if (!isUnchanged(node, version) || !isNode(next, limit) || levels == MOST_LEVELS) {
        return DirectFound.TORN;
      }
      long nextVersion = version(next);
      if ((nextVersion & 1) != 0 || !isUnchanged(node, version)) {
        return DirectFound.TORN;
      }
      node = next;
      version = nextVersion;
    }
    leaf = node;
    leafVersion = version;
    return DirectFound.FOUND;
  }

  boolean mayGoOn() {
    return mayGoOn;
  }

  /// Whether the leaf is as it was when its version was noted.
  boolean isLeafUnchanged() {
    return isUnchanged(leaf, leafVersion);
  }

  /// Slots of the leaf.
  int entries() {
    return count(leaf);
  }

  /// The first slot of the leaf whose key is not less; -1: a request knows.
  int position() {
    int position = position(leaf, 0);
    return isLong ? -1 : position;
  }

  /// Looks whether the entry of a slot of the leaf begins with the key: [#row()] then.
  ///
  /// @return FOUND, NOTHING, ELSE or TORN
  DirectFound entry(int slot) {
    if (!begins(leaf, slot, 0)) {
      return DirectFound.NOTHING;
    }
    if (isLong) {
      return DirectFound.ELSE;
    }
    int length = key.length();
    // The row's number is behind the key, and may begin in the head.
    if ((keyBytes(leaf, slot) & ~LONG_KEY) != length + ROW_BYTES) {
      return DirectFound.TORN;
    }
    if (length >= HEAD_BYTES) {
      if (tailBytes != length - HEAD_BYTES + ROW_BYTES) {
        return DirectFound.TORN;
      }
      row = memory.get(BIG, tail + length - HEAD_BYTES);
      return DirectFound.FOUND;
    }
    if (tailBytes != length) {
      return DirectFound.TORN;
    }
    long number = memory.get(WORD, slotAt(leaf, slot)) & (-1L >>> (Byte.SIZE * length));
    for (int i = 0; i < length; i++) {
      number = number << Byte.SIZE | (memory.get(ValueLayout.JAVA_BYTE, tail + i) & 0xFF);
    }
    row = number;
    return DirectFound.FOUND;
  }

  long row() {
    return row;
  }

  private static boolean isNode(long offset, long limit) {
    return offset % Long.BYTES == 0 && StoreMemory.fits(offset, NODE_BYTES, limit);
  }

  private long version(long node) {
    return SharedMemory.getLongAcquire(memory, node + StoreNodeLayout.VERSION_OFFSET);
  }

  private boolean isUnchanged(long node, long version) {
    return StoreMemory.isUnchanged(memory, node + StoreNodeLayout.VERSION_OFFSET, version);
  }

  private int shortAt(long offset) {
    return memory.get(SHORT, offset) & 0xFFFF;
  }

  private int level(long node) {
    return shortAt(node + StoreNodeLayout.LEVEL_OFFSET);
  }

  private int count(long node) {
    return Math.min(shortAt(node + StoreNodeLayout.COUNT_OFFSET), MOST_SLOTS);
  }

  private static long slotAt(long node, int slot) {
    return node + StoreNodeLayout.HEAD_BYTES + (long) slot * SLOT_BYTES;
  }

  private int keyBytes(long node, int slot) {
    return shortAt(slotAt(node, slot) + HEAD_BYTES + Short.BYTES);
  }

  /// Sets [#tail], [#tailBytes] and [#isLong] to those of a slot.
  ///
  /// @param prefix bytes of a child's address before them
  private void findTail(long node, int slot, int prefix) {
    int offset = shortAt(slotAt(node, slot) + HEAD_BYTES);
    int bytes = keyBytes(node, slot);
    isLong = (bytes & LONG_KEY) != 0;
    bytes &= ~LONG_KEY;
    offset = Math.min(offset, NODE_BYTES - prefix) + prefix;
    tailBytes = Math.min(Math.max(0, bytes - HEAD_BYTES), NODE_BYTES - offset);
    tail = node + offset;
  }

  /// Order of a slot's key and the key.
  private int compare(long node, int slot, int prefix) {
    long head = memory.get(WORD, slotAt(node, slot));
    if (head != key.head()) {
      return Long.compareUnsigned(head, key.head());
    }
    findTail(node, slot, prefix);
    int common = Math.min(tailBytes, Math.max(0, key.length() - HEAD_BYTES));
    int order = compareTail(common);
    // Equal heads: a key that ends in them is the shorter one.
    return order != 0 ? order : Integer.compare(keyBytes(node, slot) & ~LONG_KEY, key.length());
  }

  private int compareTail(int bytes) {
    for (int i = 0; i < bytes; i++) {
      int order =
          Byte.compareUnsigned(memory.get(ValueLayout.JAVA_BYTE, tail + i), key.at(HEAD_BYTES + i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private int position(long node, int prefix) {
    int low = 0;
    int high = count(node);
    isLong = false;
    while (low < high && !isLong) {
      int middle = (low + high) >>> 1;
      if (compare(node, middle, prefix) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// Number of slots of an inner node whose key is not greater.
  private int childSlot(long node) {
    int position = position(node, CHILD_BYTES);
    if (!isLong && position < count(node) && compare(node, position, CHILD_BYTES) == 0) {
      position++;
    }
    return position;
  }

  private long child(long node, int slot) {
    if (slot == 0) {
      return SharedMemory.getLongOpaque(memory, node + StoreNodeLayout.LEFTMOST_OFFSET);
    }
    int offset = shortAt(slotAt(node, slot - 1) + HEAD_BYTES);
    return memory.get(WORD, node + Math.min(offset, NODE_BYTES - CHILD_BYTES));
  }

  /// Whether a slot's key begins with the key, which is a prefix of no other value's.
  private boolean begins(long node, int slot, int prefix) {
    int length = key.length();
    int wanted = Math.max(0, length - HEAD_BYTES);
    int shift = length < HEAD_BYTES ? Long.SIZE - Byte.SIZE * length : 0;
    long head = memory.get(WORD, slotAt(node, slot));
    findTail(node, slot, prefix);
    if (length == 0 || (head ^ key.head()) >>> shift != 0) {
      return false;
    }
    return isLong || (tailBytes >= wanted && compareTail(wanted) == 0);
  }
}
