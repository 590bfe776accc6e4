package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Readers;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Adds entries to a tree in their order, while others use it: those that go into one leaf cost one descent and one latch together.
/// Confined to one thread.
final class SortedInsertion {
  private final OrderedTree tree;
  private final Readers readers;
  private final boolean unique;
  private final KeyBuffer key = new KeyBuffer(64);
  private final Descent way = new Descent();

  /// Whether the last leaf had no room.
  private boolean full;

  /// @param unique whether it adds no entry that may have the key of another, but for the row identifier. The caller sees to it that nobody
  ///     else adds any meanwhile
  SortedInsertion(OrderedTree tree, MemoryPool pool, boolean unique) {
    this.tree = tree;
    this.readers = pool.nodeReaders();
    this.unique = unique;
  }

  /// Adds entries of a leaf that is in no tree, as many as go into one leaf of the tree.
  ///
  /// @param from slot of the first
  /// @param omitted says of row identifiers whose entries are not wanted; null: all are
  /// @return slot of the first that was not added; `from` if that may have the key of another
  int add(long source, int from, @Nullable LongPredicate omitted) {
    int cell = readers.enter();
    try {
      while (true) {
        IndexNode.copyStillKey(source, from, key, 0);
        long head = key.head();
        long leaf = tree.descend(key, head, 0, false, way);
        if (!NodeLatch.tryLatch(leaf, way.version)) {
          continue;
        }
        int next = fill(leaf, source, from, omitted);
        if (next > from) {
          NodeLatch.unlatch(leaf);
          return next;
        }
        NodeLatch.unlatchUnchanged(leaf);
        if (!full) {
          return from;
        }
        tree.treeStructure.split(key, head);
      }
    } finally {
      readers.leave(cell);
    }
  }

  private int fill(long leaf, long source, int from, @Nullable LongPredicate omitted) {
    int end = IndexNode.count(source);
    full = false;
    int slot = from;
    for (; slot < end; slot++) {
      if (omitted != null && omitted.test(TreeLoad.rowId(source, slot))) {
        continue;
      }
      IndexNode.copyStillKey(source, slot, key, 0);
      if (way.fenced && KeyBuffer.compare(key, way.fence) >= 0) {
        return slot;
      }
      long head = key.head();
      int position = IndexNode.stillPosition(leaf, key, head, false);
      if (unique && mayBeThere(leaf, position, head)) {
        return slot;
      }
      if (IndexNode.equals(leaf, position, key, head)) {
        continue;
      }
      if (!IndexNode.hasRoom(leaf, key.length)) {
        full = true;
        return slot;
      }
      IndexNode.insert(leaf, position, key, false, 0);
    }
    return slot;
  }

  /// Whether a neighbour of the position has the same key, or is in another leaf and may have it.
  private boolean mayBeThere(long leaf, int position, long head) {
    return position == 0
        || hasSameKey(leaf, position - 1, head)
        || (position < IndexNode.count(leaf) ? hasSameKey(leaf, position, head) : way.fenced);
  }

  private boolean hasSameKey(long leaf, int slot, long head) {
    int keyLength = key.length - Long.BYTES;
    return !IndexNode.isLong(leaf, slot)
        && IndexNode.keyLength(leaf, slot) == key.length
        && IndexNode.beginsWith(leaf, slot, key, head, keyLength);
  }
}
