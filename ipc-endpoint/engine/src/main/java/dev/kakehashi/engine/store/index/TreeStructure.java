package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import java.util.ArrayList;

/// Splits and removals of the nodes of an [OrderedTree], by one thread at a time: the holder of the tree's `structure`.
final class TreeStructure {
  private static final int MAX_DEPTH = 32;

  private final OrderedTree tree;
  private final MemoryPool pool;

  /// Nodes for the split in progress; guarded by the tree's `structure`.
  private final ArrayList<Long> spares = new ArrayList<>();

  TreeStructure(OrderedTree tree, MemoryPool pool) {
    this.tree = tree;
    this.pool = pool;
  }

  /// Makes room for `key` by splitting its leaf, and inner nodes above as far as they are full.
  void split(KeyBuffer key, long head) {
    tree.structure.lock();
    try {
      long[] path = new long[MAX_DEPTH];
      int depth = descend(key, head, path);
      long leaf = path[depth];
      NodeLatch.latch(leaf);
      if (IndexNode.hasRoom(leaf, LongKey.bytes(key.length))) {
        NodeLatch.unlatchUnchanged(leaf);
        return;
      }
      // Every node that will change, latched bottom-up: those above the leaf change only here.
      int top = depth;
      while (top > 0 && !IndexNode.hasRoom(path[top - 1], IndexNode.MAX_KEY_BYTES)) {
        NodeLatch.latch(path[--top]);
      }
      if (top > 0) {
        NodeLatch.latch(path[--top]);
      }
      try {
        splitLeaf(path, depth, key, head, depth - top + 2);
      } finally {
        for (int i = top; i <= depth; i++) {
          NodeLatch.unlatch(path[i]);
        }
        freeSpares();
      }
    } finally {
      tree.structure.unlock();
    }
  }

  /// @param nodes that it may need
  private void splitLeaf(long[] path, int depth, KeyBuffer key, long head, int nodes) {
    long leaf = path[depth];
    int count = IndexNode.count(leaf);
    // Ascending keys: leave the full leaf full.
    boolean ascending = IndexNode.stillPosition(leaf, key, head, false) == count;
    int middle = ascending ? count : IndexNode.middle(leaf);
    KeyBuffer first = key;
    if (!ascending) {
      first = new KeyBuffer(64);
      IndexNode.copyStillKey(leaf, middle, first, 0);
    }
    KeyBuffer separator = new KeyBuffer(64);
    shortest(leaf, middle - 1, first, separator);
    int separatorBlocks = LongKey.blocks(separator.length);
    allocateSpares(nodes + separatorBlocks);
    KeyBuffer form = separator;
    if (separatorBlocks > 0) {
      form = new KeyBuffer(LongKey.bytes(separator.length));
      LongKey.write(separator, spares::removeLast, form);
      tree.addBlocks(separatorBlocks);
    }
    long right = takeSpare(0, 0);
    IndexNode.moveTail(leaf, middle, right);
    insertSeparator(path, depth, separator, form, right);
  }

  /// Enters `right`, split off `path[depth]`, into the parent.
  ///
  /// @param form of the separator that goes into the node
  private void insertSeparator(
      long[] path, int depth, KeyBuffer separator, KeyBuffer form, long right) {
    boolean isLong = OrderedTree.isLong(separator);
    if (depth == 0) {
      long newRoot = takeSpare(IndexNode.level(path[0]) + 1, path[0]);
      IndexNode.insert(newRoot, 0, form, isLong, right);
      tree.root(newRoot);
      return;
    }
    long parent = path[depth - 1];
    long head = separator.head();
    if (!IndexNode.hasRoom(parent, IndexNode.MAX_KEY_BYTES)) {
      int level = IndexNode.level(parent);
      int middle = IndexNode.middleSlot(parent);
      KeyBuffer up = new KeyBuffer(64);
      IndexNode.copyStillKey(parent, middle, up, 0);
      KeyBuffer upForm = IndexNode.form(parent, middle);
      long sibling = takeSpare(level, IndexNode.child(parent, middle));
      IndexNode.moveTail(parent, middle + 1, sibling);
      IndexNode.remove(parent, middle);
      boolean toSibling = KeyBuffer.compare(separator, up) >= 0;
      long target = toSibling ? sibling : parent;
      int position = IndexNode.stillPosition(target, separator, head, false);
      IndexNode.insert(target, position, form, isLong, right);
      insertSeparator(path, depth - 1, up, upForm, sibling);
      return;
    }
    int position = IndexNode.stillPosition(parent, separator, head, false);
    IndexNode.insert(parent, position, form, isLong, right);
  }

  /// The shortest string greater than slot `left` of the leaf and not greater than `right`.
  private static void shortest(long leaf, int left, KeyBuffer right, KeyBuffer to) {
    KeyBuffer last = new KeyBuffer(64);
    IndexNode.copyStillKey(leaf, left, last, 0);
    shortest(last, right, to);
  }

  /// The shortest string greater than `last` and not greater than `right`.
  static void shortest(KeyBuffer last, KeyBuffer right, KeyBuffer to) {
    int common = 0;
    while (common < last.length
        && common < right.length
        && last.bytes[common] == right.bytes[common]) {
      common++;
    }
    to.set(right.bytes, 0, Math.min(right.length, common + 1));
  }

  /// Takes the leaf of `key` out of the tree if it is (still) empty.
  void removeEmptyLeaf(KeyBuffer key, long head) {
    tree.structure.lock();
    try {
      long[] path = new long[MAX_DEPTH];
      int depth = descend(key, head, path);
      long leaf = path[depth];
      NodeLatch.latch(leaf);
      if (depth == 0 || IndexNode.count(leaf) > 0) {
        NodeLatch.unlatchUnchanged(leaf);
        return;
      }
      // Parents whose only child goes away go with it.
      int gone = depth;
      while (gone > 1 && IndexNode.count(path[gone - 1]) == 0) {
        NodeLatch.latch(path[--gone]);
      }
      long parent = path[gone - 1];
      NodeLatch.latch(parent);
      if (IndexNode.count(parent) == 0) {
        // The root's only child: the tree is empty but for this path, which stays.
        for (int i = gone - 1; i <= depth; i++) {
          NodeLatch.unlatchUnchanged(path[i]);
        }
        return;
      }
      removeChild(parent, path[gone]);
      if (gone == 1 && IndexNode.count(parent) == 0) {
        tree.root(IndexNode.child(parent, -1));
        gone = 0;
      } else {
        NodeLatch.unlatch(parent);
      }
      for (int i = gone; i <= depth; i++) {
        NodeLatch.unlatch(path[i]);
        pool.freeNode(path[i]);
      }
    } finally {
      tree.structure.unlock();
    }
  }

  private void removeChild(long parent, long child) {
    if (IndexNode.child(parent, -1) == child) {
      IndexNode.setLeftmost(parent, IndexNode.child(parent, 0));
      removeSeparator(parent, 0);
      return;
    }
    for (int i = 0; i < IndexNode.count(parent); i++) {
      if (IndexNode.child(parent, i) == child) {
        removeSeparator(parent, i);
        return;
      }
    }
    throw new AssertionError("index node is not a child of its parent");
  }

  /// The parent is latched: a reader that has read addresses of blocks out of it finds that its version has changed. The blocks' memory is
  /// that of nodes until the reader leaves.
  private void removeSeparator(long parent, int index) {
    KeyBuffer form = IndexNode.isLong(parent, index) ? IndexNode.form(parent, index) : null;
    IndexNode.remove(parent, index);
    if (form != null) {
      tree.freeBlocks(form);
    }
  }

  /// Path from the root to the leaf of `key`, by the holder of `structure`, for whom inner nodes stand still.
  private int descend(KeyBuffer key, long head, long[] path) {
    long node = tree.root();
    int depth = 0;
    path[0] = node;
    while (IndexNode.level(node) != 0) {
      node = IndexNode.child(node, IndexNode.stillPosition(node, key, head, true) - 1);
      path[++depth] = node;
    }
    return depth;
  }

  /// Takes all nodes that a split may need before it changes anything, so that a want of memory leaves the tree as it is.
  private void allocateSpares(int count) {
    while (spares.size() < count) {
      spares.add(pool.allocateNode());
    }
  }

  private void freeSpares() {
    spares.forEach(pool::freeNode);
    spares.clear();
  }

  private long takeSpare(int level, long leftmost) {
    return OrderedTree.newNode(spares.removeLast(), level, leftmost);
  }
}
