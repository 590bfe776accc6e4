package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.schedules.Program;
import java.util.ArrayList;
import java.util.List;

/// A tree of few large keys: one thread inserts so that leaves are split, one deletes, one reads the whole range forward.
///
/// The reader meets every key that stays, no key twice, all in order; at the end the tree has exactly what it should have.
public final class TreeProgram implements Program {
  /// Bytes of a key: four fill a leaf.
  private static final int KEY_BYTES = 900;

  private static final KeyBuffer PADDING = padding();
  private static final List<Long> BEFORE = List.of(10L, 20L, 30L, 40L, 50L, 60L);
  private static final List<Long> INSERTED = List.of(25L, 45L, 26L);
  private static final List<Long> REMOVED = List.of(20L, 50L);

  private static KeyBuffer padding() {
    KeyBuffer bytes = new KeyBuffer(KEY_BYTES);
    bytes.set(new byte[KEY_BYTES - Long.BYTES], 0, KEY_BYTES - Long.BYTES);
    return bytes;
  }

  private static KeyBuffer key(long number) {
    KeyBuffer key = new KeyBuffer(KEY_BYTES);
    key.putLong(number);
    key.putBytes(PADDING);
    return key;
  }

  private static List<Long> read(OrderedTree tree) {
    List<Long> found = new ArrayList<>();
    KeyBuffer position = key(0);
    EntryBatch entries = new EntryBatch();
    boolean inclusive = true;
    boolean more = true;
    while (more) {
      more = tree.fetchForward(position, inclusive, null, 10, entries);
      inclusive = entries.inclusive;
      for (int each = 0; each < entries.count(); each++) {
        found.add(KeyBuffer.longAt(entries.bytes(), entries.offset(each)));
      }
    }
    return found;
  }

  @Override
  public void run() throws Exception {
    MemoryPool pool = new MemoryPool(1L << 30);
    try {
      OrderedTree tree = new OrderedTree(pool);
      for (long number : BEFORE) {
        tree.insert(key(number));
      }
      List<Long> seen = new ArrayList<>();
      Program.together(
          () -> {
            for (long number : INSERTED) {
              check(tree.insert(key(number)), "not inserted");
            }
          },
          () -> {
            for (long number : REMOVED) {
              check(tree.remove(key(number)), "not removed");
            }
          },
          () -> seen.addAll(read(tree)));
      for (int each = 1; each < seen.size(); each++) {
        check(seen.get(each - 1) < seen.get(each), "out of order: " + seen);
      }
      List<Long> expected = new ArrayList<>(BEFORE);
      expected.removeAll(REMOVED);
      check(seen.containsAll(expected), "the reader has lost a key: " + seen);
      expected.addAll(INSERTED);
      expected.sort(null);
      List<Long> left = read(tree);
      check(left.equals(expected), "the tree has " + left);
    } finally {
      pool.close();
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
