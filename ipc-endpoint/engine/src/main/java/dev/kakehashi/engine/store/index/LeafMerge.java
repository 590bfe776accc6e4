package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Merges what several chains have in a range of keys into one chain, by a heap of cursors. Leaves between whose entries no other chain has
/// one are taken over as they are.
///
/// Used by one thread, and by another one afterwards that is ordered after it. Others may merge other ranges of the same chains at the same
/// time: a leaf that belongs to several ranges is only read. Each other leaf is freed as soon as it has been read, so that merging needs no
/// memory but a few leaves for each chain.
final class LeafMerge {
  /// So many leaves are taken over at a time, because the one before them may be left with few entries.
  private static final int TAKEN = 8;

  /// Steps between two looks whether the statement was canceled, less one.
  private static final int CHECK_MASK = (1 << 12) - 1;

  private final MemoryPool pool;
  private final LeafChain merged;

  /// Leaves that are not in this range alone; each is known to one merge.
  private final List<Long> shared = new ArrayList<>();

  /// The least first, each before those at twice its index and one, and two, more.
  private final Cursor[] heap;

  private int size;

  /// @param from the first key wanted; null: all are from the beginning on
  /// @param bound keys from here on are not wanted; null: all are
  LeafMerge(
      MemoryPool pool,
      List<LeafChain> chains,
      @Nullable KeyBuffer from,
      @Nullable KeyBuffer bound) {
    this.pool = pool;
    this.merged = new LeafChain(pool);
    heap = new Cursor[chains.size()];
    for (LeafChain chain : chains) {
      Cursor cursor = new Cursor(chain, from, bound);
      if (!cursor.isAtEnd()) {
        heap[size++] = cursor;
      }
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      siftDown(i);
    }
  }

  void run() {
    int steps = 0;
    while (size > 0) {
      if ((steps & CHECK_MASK) == 0) {
        Interrupts.check();
      }
      Cursor least = heap[0];
      Cursor second = second();
      do {
        int whole = least.slot == 0 ? least.wholeLeavesBefore(second) : 0;
        if (whole > 0) {
          least.take(whole);
        } else {
          merged.append(least.head, least.address, least.length, LeafChain.SPARE_FILL);
          least.next();
        }
        steps++;
      } while ((steps & CHECK_MASK) != 0
          && !least.isAtEnd()
          && (second == null || least.isBefore(second)));
      if (least.isAtEnd()) {
        heap[0] = heap[--size];
      }
      siftDown(0);
    }
  }

  private @Nullable Cursor second() {
    if (size < 3) {
      return size < 2 ? null : heap[1];
    }
    return heap[1].isBefore(heap[2]) ? heap[1] : heap[2];
  }

  LeafChain merged() {
    return merged;
  }

  /// When all ranges have been merged.
  void freeShared() {
    shared.forEach(pool::freeNode);
  }

  /// Frees what is merged, and what is left to be; of a merge of all entries.
  void free() {
    merged.free();
    for (int i = 0; i < size; i++) {
      heap[i].free();
    }
    size = 0;
  }

  private void siftDown(int from) {
    int at = from;
    Cursor cursor = heap[at];
    for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
        child++;
      }
      if (!heap[child].isBefore(cursor)) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = cursor;
  }

  /// Where a merge is in one chain.
  private final class Cursor {
    private final LeafChain chain;
    private final int endLeaf;

    /// First slot of the last leaf that is not wanted; 0 if the whole leaf is not.
    private final int endSlot;

    private int leaf;
    private int slot;

    /// The leaf, where the range begins in it, and where it ends.
    private long node;

    private int first;
    private int end;

    /// The entry.
    private long head;

    private long address;
    private int length;

    Cursor(LeafChain chain, @Nullable KeyBuffer from, @Nullable KeyBuffer bound) {
      this.chain = chain;
      int[] place = {0, 0};
      if (from != null) {
        find(from, place);
      }
      leaf = place[0];
      first = place[1];
      place[0] = chain.count();
      place[1] = 0;
      if (bound != null) {
        find(bound, place);
      }
      endLeaf = place[0];
      endSlot = place[1];
      enterLeaf();
    }

    /// Where the first entry is that is not less than `key`.
    private void find(KeyBuffer key, int[] place) {
      long keyHead = key.head();
      int low = 0;
      int high = chain.count();
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (IndexNode.position(chain.leaf(middle), key, keyHead, false) > 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      place[0] = low;
      place[1] = 0;
      if (low > 0) {
        long before = chain.leaf(low - 1);
        int position = IndexNode.position(before, key, keyHead, false);
        if (position < IndexNode.count(before)) {
          place[0] = low - 1;
          place[1] = position;
        }
      }
    }

    boolean isAtEnd() {
      return leaf > endLeaf || (leaf == endLeaf && first >= endSlot);
    }

    private void enterLeaf() {
      if (isAtEnd()) {
        return;
      }
      node = chain.leaf(leaf);
      end = leaf == endLeaf ? endSlot : IndexNode.count(node);
      slot = first;
      read();
    }

    private void read() {
      head = IndexNode.head(node, slot);
      address = IndexNode.address(node, slot);
      length = IndexNode.keyLength(node, slot);
    }

    void next() {
      if (++slot < end) {
        read();
        return;
      }
      if (first == 0) {
        if (end == IndexNode.count(node)) {
          pool.freeNode(node);
        } else {
          shared.add(node);
        }
      }
      leaf++;
      first = 0;
      enterLeaf();
    }

    /// Frees this leaf and those behind it.
    void free() {
      while (leaf < chain.count()) {
        pool.freeNode(chain.leaf(leaf++));
      }
    }

    boolean isBefore(Cursor other) {
      return EntryRun.compare(head, address, length, other.head, other.address, other.length) < 0;
    }

    /// How many leaves from this one on can be taken over.
    int wholeLeavesBefore(@Nullable Cursor other) {
      if (other == null) {
        return endLeaf - leaf;
      }
      if (endLeaf - leaf < TAKEN) {
        return 0;
      }
      long last = chain.leaf(leaf + TAKEN - 1);
      int lastSlot = IndexNode.count(last) - 1;
      boolean before =
          EntryRun.compare(
                  IndexNode.head(last, lastSlot),
                  IndexNode.address(last, lastSlot),
                  IndexNode.keyLength(last, lastSlot),
                  other.head,
                  other.address,
                  other.length)
              < 0;
      return before ? TAKEN : 0;
    }

    void take(int leaves) {
      for (int i = 0; i < leaves; i++) {
        merged.take(chain.leaf(leaf++));
      }
      enterLeaf();
    }
  }
}
