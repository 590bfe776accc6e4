package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Builds a tree from its leaves upwards, out of sorted runs of entries: nothing is searched, moved or split, which an entry that comes to
/// a leaf among others costs.
///
/// In three steps, the caller orders each after the one before: any number of threads add runs, each by a [Share] of its own; any number of
/// threads run what [#merges(int)] gives; one thread calls [#complete()]. Nobody else uses the tree until then. If a step fails, the tree
/// stays empty, and what has been allocated is the pool's until it is closed.
///
/// Runs become chains of leaves at once, so that beside the memory that the tree will have there is only that of a run for each thread.
public final class TreeLoad {
  /// Leaves that are worth a thread.
  private static final int LEAVES_OF_MERGE = 64;

  /// Leaves between two looks whether the statement was canceled, less one.
  private static final int CHECK_MASK = (1 << 5) - 1;

  private final OrderedTree tree;
  private final MemoryPool pool;

  /// Guarded by `this` while runs are added.
  private final List<LeafChain> chains = new ArrayList<>();

  private final List<LeafMerge> merges = new ArrayList<>();

  /// Guarded by `this`.
  private long[] later = new long[0];

  /// Guarded by `this`.
  private int laterCount;

  TreeLoad(OrderedTree tree, MemoryPool pool) {
    this.tree = tree;
    this.pool = pool;
  }

  /// Entries that one thread adds.
  public final class Share {
    /// Goes on with the next run if that comes behind it, as those of rows do that are in the order of the keys.
    private LeafChain latest = new LeafChain(pool);

    private Share() {}

    /// Sorts a run and adds its entries. No entry may be added twice.
    public void add(EntryRun run) {
      if (run.count() == 0) {
        return;
      }
      // Entries that came in order go on in order behind the run, and not in between.
      int fill = run.isOrdered() ? IndexNode.BYTES : LeafChain.SPARE_FILL;
      run.sort();
      if (latest.count() == 0 || !run.isBehind(latest.last())) {
        latest = new LeafChain(pool);
        synchronized (TreeLoad.this) {
          chains.add(latest);
        }
      }
      run.copyTo(latest, fill);
    }
  }

  /// Whether an entry can be in a run. Others are entered one by one, when the tree is complete.
  public static boolean takes(KeyBuffer entry) {
    return LongKey.blocks(entry.length) == 0;
  }

  /// Notes a row whose entry cannot be in a run.
  public synchronized void addLater(long rowId) {
    if (laterCount == later.length) {
      later = Arrays.copyOf(later, Math.max(16, laterCount * 2));
    }
    later[laterCount++] = rowId;
  }

  /// The rows whose entries are missing when the tree is complete.
  public synchronized long[] later() {
    return Arrays.copyOf(later, laterCount);
  }

  public Share newShare() {
    return new Share();
  }

  /// Leaves of entries; a measure of what is left to do.
  public int leaves() {
    return chains.stream().mapToInt(LeafChain::count).sum();
  }

  /// Does the remaining work but for the end, by this thread alone: then [#discard()] knows what to free, whatever fails.
  public void merge() {
    merges(1).forEach(Runnable::run);
    merges.forEach(LeafMerge::freeShared);
  }

  /// Whether there is no entry.
  public boolean isEmpty() {
    return chains.isEmpty();
  }

  /// Leaves in the order of their entries, after the merges.
  private List<LeafChain> ordered() {
    return merges.isEmpty() ? chains : merges.stream().map(LeafMerge::merged).toList();
  }

  /// Finds neighbours that are equal but for the row identifier. After [#merge()].
  ///
  /// @param decision gets the row identifiers of two such entries, the lesser first, and says which of them the next one is compared with
  public void forEachEqual(LongBinaryOperator decision) {
    long before = 0;
    int slotBefore = 0;
    long survivor = -1;
    for (LeafChain chain : ordered()) {
      for (int i = 0; i < chain.count(); i++) {
        checkInterrupts(i);
        long leaf = chain.leaf(i);
        int count = IndexNode.count(leaf);
        for (int slot = 0; slot < count; slot++) {
          if (before != 0 && isEqual(before, slotBefore, leaf, slot)) {
            long first = survivor == -1 ? rowId(before, slotBefore) : survivor;
            survivor = decision.applyAsLong(first, rowId(leaf, slot));
          } else {
            survivor = -1;
          }
          before = leaf;
          slotBefore = slot;
        }
      }
    }
  }

  private static void checkInterrupts(int leaf) {
    if ((leaf & CHECK_MASK) == 0) {
      Interrupts.check();
    }
  }

  private static boolean isEqual(long leafA, int slotA, long leafB, int slotB) {
    int length = IndexNode.keyLength(leafA, slotA);
    int keyLength = length - Long.BYTES;
    return length == IndexNode.keyLength(leafB, slotB)
        && IndexNode.beginEqual(leafA, slotA, leafB, slotB, keyLength);
  }

  static long rowId(long leaf, int slot) {
    return IndexNode.lastLong(leaf, slot);
  }

  /// Takes an entry.
  public interface Taker {
    /// @param key with the row identifier; may be changed
    void entry(KeyBuffer key, long rowId);
  }

  /// Adds all entries to the tree, which has others and is in use, and frees their leaves. After [#merge()].
  ///
  /// @param unique whether entries that may have the key of another are left to `alone`
  /// @param omitted says of row identifiers whose entries are not wanted; null: all are
  /// @param around runs each step; of a unique index it keeps others from adding entries meanwhile
  /// @param alone adds an entry by itself
  public void addAll(
      boolean unique, @Nullable LongPredicate omitted, Consumer<Runnable> around, Taker alone) {
    SortedInsertion insertion = new SortedInsertion(tree, pool, unique);
    KeyBuffer key = new KeyBuffer(64);
    for (LeafChain chain : ordered()) {
      for (int i = 0; i < chain.count(); i++) {
        checkInterrupts(i);
        long leaf = chain.leaf(i);
        around.accept(() -> addLeaf(insertion, leaf, omitted, key, alone));
      }
    }
    discard();
  }

  private static void addLeaf(
      SortedInsertion insertion,
      long leaf,
      @Nullable LongPredicate omitted,
      KeyBuffer key,
      Taker alone) {
    int count = IndexNode.count(leaf);
    int slot = 0;
    while (slot < count) {
      int next = insertion.add(leaf, slot, omitted);
      if (next == slot) {
        IndexNode.copyStillKey(leaf, slot, key, 0);
        alone.entry(key, rowId(leaf, slot));
        next++;
      }
      slot = next;
    }
  }

  /// Builds the inner nodes and puts the tree in place, if that has no entry. Others may use it meanwhile. After [#merge()].
  ///
  /// @return false if it has entries; then nothing has changed
  public boolean tryComplete() {
    if (!tree.isEmpty()) {
      return false;
    }
    long[] leaves = leavesInOrder();
    List<Long> above = new ArrayList<>();
    boolean adopted = false;
    try {
      adopted = tree.tryAdopt(root(leaves, above::add));
    } finally {
      if (!adopted) {
        above.forEach(pool::freeNode);
      }
    }
    if (adopted) {
      chains.clear();
      merges.clear();
    }
    return adopted;
  }

  /// Frees all leaves that have not become a part of the tree. Only [#merge()] has merged them, if anything has.
  public void discard() {
    if (merges.isEmpty()) {
      chains.forEach(LeafChain::free);
    } else {
      merges.forEach(LeafMerge::free);
    }
    chains.clear();
    merges.clear();
  }

  /// The remaining work but for the end, to be run in any order.
  ///
  /// @param most how many, if there is enough for them
  public List<Runnable> merges(int most) {
    if (chains.size() < 2) {
      return List.of();
    }
    LeafChain longest =
        chains.stream().max(Comparator.comparingInt(LeafChain::count)).orElseThrow();
    int ranges = Math.clamp(leaves() / LEAVES_OF_MERGE, 1, Math.min(most, longest.count()));
    KeyBuffer from = null;
    for (int i = 1; i <= ranges; i++) {
      KeyBuffer bound = null;
      if (i < ranges) {
        bound = new KeyBuffer(64);
        long leaf = longest.leaf((int) ((long) longest.count() * i / ranges));
        IndexNode.copyKey(leaf, 0, bound, 0);
      }
      merges.add(new LeafMerge(pool, chains, from, bound));
      from = bound;
    }
    return merges.stream().<Runnable>map(merge -> merge::run).toList();
  }

  /// Builds the inner nodes and puts the tree in place.
  public void complete() {
    long[] nodes = leavesInOrder();
    merges.forEach(LeafMerge::freeShared);
    if (nodes.length > 0) {
      tree.adopt(root(nodes, node -> {}));
    }
  }

  private long[] leavesInOrder() {
    List<LeafChain> ordered = ordered();
    long[] nodes = new long[ordered.stream().mapToInt(LeafChain::count).sum()];
    int count = 0;
    for (LeafChain chain : ordered) {
      for (int i = 0; i < chain.count(); i++) {
        nodes[count++] = chain.leaf(i);
      }
    }
    return nodes;
  }

  /// @param made gets each inner node
  private long root(long[] leaves, LongConsumer made) {
    int count = leaves.length;
    List<KeyBuffer> separators = List.of();
    for (int level = 1; count > 1; level++) {
      separators = parents(level, leaves, count, separators, made);
      count = separators.size();
    }
    return leaves[0];
  }

  /// Makes parents, whose addresses take the place of their children's.
  ///
  /// @param separators what each child is separated by from the one before it; those of leaves are made here
  /// @return those of the parents
  private List<KeyBuffer> parents(
      int level, long[] nodes, int count, List<KeyBuffer> separators, LongConsumer made) {
    List<KeyBuffer> above = new ArrayList<>();
    KeyBuffer separator = new KeyBuffer(0);
    long before = 0;
    int room = 0;
    for (int i = 0; i < count; i++) {
      long child = nodes[i];
      if (i > 0) {
        separator = level == 1 ? separator(before, child) : separators.get(i);
      }
      int bytes =
          IndexNode.SLOT_BYTES + IndexNode.CHILD_BYTES + IndexNode.tailBytes(separator.length);
      if (i > 0 && bytes <= room) {
        long parent = nodes[above.size() - 1];
        IndexNode.insert(parent, IndexNode.count(parent), separator, child);
        room -= bytes;
      } else {
        // Its separator stands above, between its parent and the one before.
        long parent = OrderedTree.newNode(pool.allocateNode(), level, child);
        made.accept(parent);
        nodes[above.size()] = parent;
        above.add(separator);
        room = LeafChain.SPARE_FILL - IndexNode.HEADER_BYTES;
      }
      before = child;
    }
    return above;
  }

  private static KeyBuffer separator(long leaf, long right) {
    KeyBuffer last = new KeyBuffer(64);
    KeyBuffer first = new KeyBuffer(64);
    KeyBuffer separator = new KeyBuffer(16);
    IndexNode.copyKey(leaf, IndexNode.count(leaf) - 1, last, 0);
    IndexNode.copyKey(right, 0, first, 0);
    TreeStructure.shortest(last, first, separator);
    return separator;
  }
}
