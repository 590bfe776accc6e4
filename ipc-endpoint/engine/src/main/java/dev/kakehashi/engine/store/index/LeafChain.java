package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import java.util.Arrays;

/// Leaves that a tree is to be built of, with ascending entries in each and from each to the next. Confined to one thread at a time.
final class LeafChain {
  /// How full leaves are made whose neighbours may get entries between theirs.
  static final int SPARE_FILL = IndexNode.BYTES * 9 / 10;

  private final MemoryPool pool;
  private long[] leaves = new long[4];
  private int count;

  /// Bytes left in the last leaf.
  private int room;

  LeafChain(MemoryPool pool) {
    this.pool = pool;
  }

  int count() {
    return count;
  }

  long leaf(int index) {
    return leaves[index];
  }

  /// The leaf that has the greatest entry.
  long last() {
    return leaves[count - 1];
  }

  /// Adds an entry that is greater than all before.
  ///
  /// @param fill bytes of a leaf after which another one is begun, at least a third of a node
  void append(long head, long address, int length, int fill) {
    int bytes = IndexNode.SLOT_BYTES + IndexNode.tailBytes(length);
    if (room < bytes) {
      add(OrderedTree.newNode(pool.allocateNode(), 0, 0));
      room = fill - IndexNode.HEADER_BYTES;
    }
    room -= bytes;
    IndexNode.append(leaves[count - 1], head, address, length);
  }

  /// Frees the leaves.
  void free() {
    for (int i = 0; i < count; i++) {
      pool.freeNode(leaves[i]);
    }
    count = 0;
  }

  /// Takes over a leaf whose entries are greater than all before; it stays as it is.
  void take(long leaf) {
    add(leaf);
    room = 0;
  }

  private void add(long leaf) {
    if (count == leaves.length) {
      leaves = Arrays.copyOf(leaves, count * 2);
    }
    leaves[count++] = leaf;
  }
}
