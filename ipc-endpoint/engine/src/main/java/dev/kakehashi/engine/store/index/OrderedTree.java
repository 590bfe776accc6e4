package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.protocol.layout.StoreIndexLayout;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// An ordered set of byte strings: a B+-tree with optimistic lock coupling (Leis, Haubenschild, Neumann 2019) over native nodes.
/// Thread-safe.
///
/// Each node has a version ([NodeLatch]). A writer latches a node by making its version odd, and releases it by making it even and greater.
/// A reader latches nothing: it notes a node's even version, reads, and validates that the version is still the same; if not it starts
/// again at the root. On the way down the version of a child is read between two validations of its parent: the first proves that the
/// pointer was one, the second that the child still was the parent's child when its version was noted, so a later change of the child's
/// range is seen in its own version.
///
/// * Entries of one leaf change under the latch of that leaf alone.
/// * Splits and removals of nodes are made by one thread at a time, the holder of `structure`, which latches every node it changes before
///   the first change and releases them after the last; so a reader sees all or nothing. While it holds `structure` no inner node changes.
/// * `root` is written by the holder of `structure` while it has the old root latched; a reader looks at `root` again after having noted
///   the version.
/// * A key that is too long for a node is a [LongKey] in it, whose blocks are followed only after the node's version has been validated.
/// * A thread that goes down the tree enters [MemoryPool#nodeReaders()] first, so that nodes are type-stable for it (see
///   [MemoryPool#allocateNode()]): a late reader of a freed node finds a greater version, nothing worse.
///
/// We differ from the paper: nodes are not merged when underfull, only removed when empty; and there are no links between leaves, because a
/// scan copies a leaf at a time and descends again, which costs less than 1 % and never meets a link to a freed node.
public final class OrderedTree {
  /// Largest entry. Entries that do not fit three times into a node are [LongKey]s; three of their forms fit.
  public static final int MAX_ENTRY_BYTES = LongKey.MAX_BYTES;

  private final MemoryPool pool;
  private final Readers readers;
  final ReentrantLock structure = new ReentrantLock();
  final TreeStructure treeStructure;

  /// Nodes that are blocks of long keys.
  private final AtomicLong blocks = new AtomicLong();

  private volatile long root;

  /// Where readers in other processes find the root, see [StoreHead]; 0: there are none.
  private final long cell;

  public OrderedTree(MemoryPool pool) {
    this.pool = pool;
    readers = pool.nodeReaders();
    treeStructure = new TreeStructure(this, pool);
    long first = newNode(pool.allocateFirstNode(), 0, 0);
    StoreHead head = pool.head();
    long taken = 0;
    try {
      taken = head == null ? 0 : head.takeCell();
    } finally {
      if (head != null && taken == 0) {
        pool.freeNode(first);
      }
    }
    cell = taken;
    root(first);
    if (cell != 0) {
      StoreHead.complete(cell);
    }
  }

  /// Sets the root; by the holder of `structure`, who has the old root latched, or while nobody uses the tree.
  void root(long node) {
    root = node;
    if (cell != 0) {
      Native.putLongVolatile(cell + StoreIndexLayout.ROOT_OFFSET, node);
    }
  }

  /// See [StoreHead]; 0: there are no readers in other processes.
  public long cell() {
    return cell;
  }

  /// Adds an entry.
  ///
  /// @return false if it was there
  public boolean insert(KeyBuffer key) {
    if (LongKey.blocks(key.length) > 0) {
      return insertLong(key);
    }
    int cell = readers.enter();
    try {
      return enter(key, key);
    } finally {
      readers.leave(cell);
    }
  }

  /// The blocks are written first, so that a want of memory leaves the tree as it is.
  private boolean insertLong(KeyBuffer key) {
    KeyBuffer form = written(key);
    boolean entered = false;
    int cell = readers.enter();
    try {
      entered = enter(key, form);
    } finally {
      readers.leave(cell);
      if (!entered) {
        freeBlocks(form);
      }
    }
    return entered;
  }

  /// More nodes are blocks of long keys.
  void addBlocks(long count) {
    blocks.addAndGet(count);
  }

  private KeyBuffer written(KeyBuffer key) {
    int count = LongKey.blocks(key.length);
    ArrayList<Long> nodes = new ArrayList<>(count);
    try {
      while (nodes.size() < count) {
        nodes.add(pool.allocateNode());
      }
    } finally {
      if (nodes.size() < count) {
        nodes.forEach(pool::freeNode);
      }
    }
    KeyBuffer form = new KeyBuffer(LongKey.bytes(key.length));
    LongKey.write(key, nodes::removeLast, form);
    blocks.addAndGet(count);
    return form;
  }

  /// @param form of a long key that is in no node any more
  void freeBlocks(KeyBuffer form) {
    blocks.addAndGet(-LongKey.free(form, pool));
  }

  /// @param form that goes into the node: the key, or the form of a long one
  private boolean enter(KeyBuffer key, KeyBuffer form) {
    long head = key.head();
    while (true) {
      long leaf = latchLeaf(key, head);
      int position = IndexNode.stillPosition(leaf, key, head, false);
      if (IndexNode.equals(leaf, position, key, head)) {
        NodeLatch.unlatchUnchanged(leaf);
        return false;
      }
      if (IndexNode.hasRoom(leaf, form.length)) {
        IndexNode.insert(leaf, position, form, isLong(key), 0);
        NodeLatch.unlatch(leaf);
        return true;
      }
      NodeLatch.unlatchUnchanged(leaf);
      treeStructure.split(key, head);
    }
  }

  /// Latches the leaf that an entry belongs to. The caller has entered the readers of nodes.
  private long latchLeaf(KeyBuffer key, long head) {
    while (true) {
      long leaf = root;
      long version = NodeLatch.stableVersion(leaf);
      if (leaf != root) {
        continue;
      }
      boolean valid = true;
      while (valid && IndexNode.level(leaf) != 0) {
        long child = IndexNode.child(leaf, IndexNode.position(leaf, key, head, true) - 1);
        if (!NodeLatch.validate(leaf, version)) {
          valid = false;
          break;
        }
        long childVersion = NodeLatch.stableVersion(child);
        valid = NodeLatch.validate(leaf, version);
        leaf = child;
        version = childVersion;
      }
      if (valid && NodeLatch.tryLatch(leaf, version)) {
        return leaf;
      }
    }
  }

  /// A way to fill the tree while it has no entry and nobody uses it.
  public TreeLoad load() {
    return new TreeLoad(this, pool);
  }

  /// Whether it has no entry, at this moment.
  boolean isEmpty() {
    int cell = readers.enter();
    try {
      while (true) {
        long node = root;
        long version = NodeLatch.stableVersion(node);
        boolean empty = IndexNode.level(node) == 0 && IndexNode.count(node) == 0;
        if (node == root && NodeLatch.validate(node, version)) {
          return empty;
        }
      }
    } finally {
      readers.leave(cell);
    }
  }

  /// Takes a tree that has been built in place of the empty one, also while others use that.
  ///
  /// @return false if it is not empty; then nothing has changed
  boolean tryAdopt(long built) {
    structure.lock();
    try {
      long before = root;
      NodeLatch.latch(before);
      if (IndexNode.level(before) != 0 || IndexNode.count(before) != 0) {
        NodeLatch.unlatchUnchanged(before);
        return false;
      }
      // A thread that has noted the old root's version starts again, at the new root.
      root(built);
      NodeLatch.unlatch(before);
      pool.freeNode(before);
      return true;
    } finally {
      structure.unlock();
    }
  }

  /// Takes a tree that has been built in place of the empty one. Nobody uses it meanwhile.
  void adopt(long built) {
    structure.lock();
    try {
      long before = root;
      if (IndexNode.level(before) != 0 || IndexNode.count(before) != 0) {
        throw new IllegalStateException("the tree to be filled has entries");
      }
      root(built);
      pool.freeNode(before);
    } finally {
      structure.unlock();
    }
  }

  /// Removes an entry.
  ///
  /// @return false if it was not there
  public boolean remove(KeyBuffer key) {
    int cell = readers.enter();
    try {
      return takeOut(key);
    } finally {
      readers.leave(cell);
    }
  }

  private boolean takeOut(KeyBuffer key) {
    long head = key.head();
    long leaf = latchLeaf(key, head);
    int position = IndexNode.stillPosition(leaf, key, head, false);
    if (!IndexNode.equals(leaf, position, key, head)) {
      NodeLatch.unlatchUnchanged(leaf);
      return false;
    }
    KeyBuffer form = isLong(key) ? IndexNode.form(leaf, position) : null;
    IndexNode.remove(leaf, position);
    boolean empty = IndexNode.count(leaf) == 0;
    NodeLatch.unlatch(leaf);
    if (form != null) {
      freeBlocks(form);
    }
    if (empty) {
      treeStructure.removeEmptyLeaf(key, head);
    }
    return true;
  }

  /// Copies entries of one leaf from `position` on, in order.
  ///
  /// @param position where to begin; empty: at the first entry
  /// @param inclusive whether an entry equal to `position` belongs
  /// @param bound entries from here on are not wanted; null: all are
  /// @param max most entries wanted, at least 1
  /// @param to receives the entries
  /// @return whether there may be more; then `position` is where to go on, inclusively if `to.inclusive`
  public boolean fetchForward(
      KeyBuffer position, boolean inclusive, @Nullable KeyBuffer bound, int max, EntryBatch to) {
    int cell = readers.enter();
    try {
      return copyForward(position, inclusive, bound, max, to);
    } finally {
      readers.leave(cell);
    }
  }

  private boolean copyForward(
      KeyBuffer position, boolean inclusive, @Nullable KeyBuffer bound, int max, EntryBatch to) {
    while (true) {
      to.clear();
      long head = position.head();
      Descent way = to.way;
      long node = descend(position, head, 0, false, way);
      int from = IndexNode.position(node, position, head, !inclusive);
      int last = bound == null ? IndexNode.count(node) : IndexNode.firstFrom(node, from, bound);
      int end = (int) Math.min(last, (long) from + max);
      for (int i = from; i < end; i++) {
        to.add(node, i);
      }
      boolean whole = end == IndexNode.count(node);
      boolean bounded = end == last && !whole;
      if (!NodeLatch.validate(node, way.version)) {
        continue;
      }
      if (bounded) {
        return false;
      }
      if (!whole) {
        to.copyLast(position);
        to.inclusive = false;
        return true;
      }
      if (!way.fenced) {
        return false;
      }
      position.set(way.fence);
      to.inclusive = true;
      return true;
    }
  }

  /// Called by those who have entered the readers. Goes down to the node of a level in which `position` lies; in a tree that is lower, to
  /// its root.
  ///
  /// @param position null: behind all keys
  /// @param head of the position
  /// @param backward a separator equal to the position belongs to keys that are not wanted: the node is the one before it
  /// @param way receives the version of the node, and the separator where a scan in that direction goes on
  long descend(@Nullable KeyBuffer position, long head, int level, boolean backward, Descent way) {
    while (true) {
      long node = root;
      long version = NodeLatch.stableVersion(node);
      boolean valid = node == root;
      way.fenced = false;
      while (valid && IndexNode.level(node) > level) {
        int count = IndexNode.count(node);
        int slot = position == null ? count : IndexNode.position(node, position, head, !backward);
        int fence = backward ? slot - 1 : slot;
        if (fence >= 0 && fence < count) {
          IndexNode.copyKey(node, fence, way.fence, 0);
          way.fenced = true;
        }
        long child = IndexNode.child(node, slot - 1);
        if (!NodeLatch.validate(node, version)) {
          valid = false;
          break;
        }
        long childVersion = NodeLatch.stableVersion(child);
        valid = NodeLatch.validate(node, version);
        node = child;
        version = childVersion;
      }
      if (valid) {
        way.version = version;
        return node;
      }
    }
  }

  /// Copies entries of one leaf that are less than `position`, the greatest first.
  ///
  /// @param position exclusive end; ignored when `unbounded`
  /// @param max most entries wanted, at least 1
  /// @return whether there may be more; then `position` is where to go on, bounded
  public boolean fetchBackward(KeyBuffer position, boolean unbounded, int max, EntryBatch to) {
    int cell = readers.enter();
    try {
      return copyBackward(position, unbounded, max, to);
    } finally {
      readers.leave(cell);
    }
  }

  private boolean copyBackward(KeyBuffer position, boolean unbounded, int max, EntryBatch to) {
    while (true) {
      to.clear();
      long head = position.head();
      Descent way = to.way;
      long node = descend(unbounded ? null : position, head, 0, true, way);
      int end = unbounded ? IndexNode.count(node) : IndexNode.position(node, position, head, false);
      int from = Math.max(0, end - max);
      for (int i = end - 1; i >= from; i--) {
        to.add(node, i);
      }
      if (!NodeLatch.validate(node, way.version)) {
        continue;
      }
      if (from > 0) {
        to.copyLast(position);
        return true;
      }
      if (!way.fenced) {
        return false;
      }
      position.set(way.fence);
      return true;
    }
  }

  /// Finds keys that divide the entries `[from, to)`.
  ///
  /// @param to null: to the end
  /// @param most parts wanted, at least 1
  public RangeDivision divide(KeyBuffer from, @Nullable KeyBuffer to, int most) {
    int cell = readers.enter();
    try {
      return RangeDivision.of(this, from, to, most);
    } finally {
      readers.leave(cell);
    }
  }

  long root() {
    return root;
  }

  static boolean isLong(KeyBuffer key) {
    return LongKey.blocks(key.length) > 0;
  }

  /// Nodes of the tree, with the blocks of its long keys. Inner nodes are looked at, of which there is one for some hundred leaves; who
  /// changes them waits meanwhile.
  public long nodes() {
    structure.lock();
    try {
      return nodesBelow(root) + blocks.get();
    } finally {
      structure.unlock();
    }
  }

  private static long nodesBelow(long node) {
    long count = 1;
    int level = IndexNode.level(node);
    if (level == 1) {
      count += 1 + IndexNode.count(node);
    } else if (level > 1) {
      for (int i = -1; i < IndexNode.count(node); i++) {
        count += nodesBelow(IndexNode.child(node, i));
      }
    }
    return count;
  }

  /// Frees every node. Nobody may use the tree any more.
  public void free() {
    structure.lock();
    try {
      StoreHead head = pool.head();
      if (head != null) {
        head.freeCell(cell);
      }
      freeBelow(root);
    } finally {
      structure.unlock();
    }
  }

  private void freeBelow(long node) {
    for (int i = 0; blocks.get() > 0 && i < IndexNode.count(node); i++) {
      if (IndexNode.isLong(node, i)) {
        freeBlocks(IndexNode.form(node, i));
      }
    }
    if (IndexNode.level(node) != 0) {
      for (int i = -1; i < IndexNode.count(node); i++) {
        freeBelow(IndexNode.child(node, i));
      }
    }
    pool.freeNode(node);
  }

  static long newNode(long node, int level, long leftmost) {
    // Odd while it is made, so that the version differs from what a late reader of the node's
    // former life has noted.
    NodeLatch.latch(node);
    IndexNode.initialize(node, level, leftmost);
    NodeLatch.unlatch(node);
    return node;
  }
}
