package dev.kakehashi.engine.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OrderedTreeTest {
  private final MemoryPool pool = new MemoryPool(1L << 30);
  private final OrderedTree tree = new OrderedTree(pool);

  @AfterEach
  void freeMemory() {
    pool.close();
  }

  private static KeyBuffer key(byte[] bytes) {
    KeyBuffer key = new KeyBuffer(bytes.length);
    key.set(bytes, 0, bytes.length);
    return key;
  }

  private static KeyBuffer key(long number, int padding) {
    KeyBuffer key = new KeyBuffer(16);
    key.putLong(number);
    for (int i = 0; i < padding; i++) {
      key.putByte((int) (number + i));
    }
    return key;
  }

  private List<byte[]> forward(byte[] from, boolean inclusive, int fetch) {
    return forward(from, inclusive, null, fetch);
  }

  private List<byte[]> forward(byte[] from, boolean inclusive, byte @Nullable [] bound, int fetch) {
    List<byte[]> found = new ArrayList<>();
    KeyBuffer position = key(from);
    EntryBatch entries = new EntryBatch();
    boolean include = inclusive;
    boolean more = true;
    while (more) {
      more =
          tree.fetchForward(position, include, bound == null ? null : key(bound), fetch, entries);
      include = entries.inclusive;
      collect(entries, found);
    }
    return found;
  }

  private List<byte[]> backward(byte[] before, boolean unbounded, int fetch) {
    List<byte[]> found = new ArrayList<>();
    KeyBuffer position = key(before);
    EntryBatch entries = new EntryBatch();
    boolean all = unbounded;
    boolean more = true;
    while (more) {
      more = tree.fetchBackward(position, all, fetch, entries);
      all = false;
      collect(entries, found);
    }
    return found;
  }

  private static void collect(EntryBatch entries, List<byte[]> found) {
    for (int i = 0; i < entries.count(); i++) {
      int from = entries.offset(i);
      found.add(Arrays.copyOfRange(entries.bytes(), from, from + entries.length(i)));
    }
  }

  private static void assertSame(Iterable<byte[]> expected, List<byte[]> found) {
    int i = 0;
    for (byte[] bytes : expected) {
      assertTrue(i < found.size(), "too few entries: " + found.size());
      assertEquals(0, Arrays.compareUnsigned(bytes, found.get(i)), "entry " + i);
      i++;
    }
    assertEquals(i, found.size());
  }

  @Test
  void shouldBehaveLikeASortedSet() {
    compareWithSortedSet(60_000, OrderedTreeTest::randomKey);
  }

  @Test
  void shouldBehaveLikeASortedSetOfLongKeys() {
    long nodes = tree.nodes();
    compareWithSortedSet(6_000, OrderedTreeTest::longKey);
    assertTrue(tree.nodes() <= nodes + 4, "blocks are left: " + tree.nodes());
    long used = pool.usedBytes();
    Random random = new Random(1);
    for (int i = 0; i < 500; i++) {
      tree.insert(key(longKey(random)));
    }
    tree.free();
    assertTrue(pool.usedBytes() <= used, "memory is left: " + pool.usedBytes());
  }

  @Test
  void shouldTakeKeysUpToTheLongest() {
    for (int length = OrderedTree.MAX_ENTRY_BYTES - 1;
        length <= OrderedTree.MAX_ENTRY_BYTES;
        length++) {
      byte[] bytes = new byte[length];
      Arrays.fill(bytes, (byte) length);
      assertTrue(tree.insert(key(bytes)));
      assertFalse(tree.insert(key(bytes)));
    }
    assertEquals(2, forward(new byte[0], true, 9).size());
  }

  @Test
  void shouldLeaveTheTreeAsItIsWhenThereIsNoMemoryForALongKey() {
    pool.limitBytes(4 << 20);
    int entered = 0;
    boolean full = false;
    while (!full) {
      byte[] bytes = new byte[100_000];
      Arrays.fill(bytes, (byte) 7);
      bytes[bytes.length - 1] = (byte) entered;
      try {
        tree.insert(key(bytes));
        entered++;
      } catch (EngineException refused) {
        assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
        full = true;
      }
    }
    List<byte[]> found = forward(new byte[0], true, 3);
    assertEquals(entered, found.size());
    for (byte[] bytes : found) {
      assertTrue(tree.remove(key(bytes)));
    }
    assertTrue(tree.nodes() <= 4, "blocks are left: " + tree.nodes());
  }

  private void compareWithSortedSet(int steps, Function<Random, byte[]> keys) {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    NavigableSet<byte[]> model = new TreeSet<>(Arrays::compareUnsigned);
    for (int step = 0; step < steps; step++) {
      byte[] bytes = keys.apply(random);
      if (random.nextInt(10) < (step * 4 / steps % 2 == 0 ? 7 : 2)) {
        assertEquals(model.add(bytes), tree.insert(key(bytes)));
      } else {
        byte[] present = model.ceiling(bytes);
        byte[] victim = present == null ? bytes : present;
        assertEquals(model.remove(victim), tree.remove(key(victim)));
      }
      if (step % 1000 == 0) {
        int fetch = 1 + random.nextInt(300);
        assertSame(model, forward(new byte[0], true, fetch));
        assertSame(model.descendingSet(), backward(new byte[0], true, fetch));
        byte[] from = keys.apply(random);
        assertSame(model.tailSet(from, true), forward(from, true, fetch));
        assertSame(model.tailSet(from, false), forward(from, false, fetch));
        byte[] to = keys.apply(random);
        if (Arrays.compareUnsigned(from, to) <= 0) {
          assertSame(model.subSet(from, true, to, false), forward(from, true, to, fetch));
        }
        assertSame(model.headSet(from, false).descendingSet(), backward(from, false, fetch));
      }
    }
    for (byte[] bytes : List.copyOf(model)) {
      assertTrue(tree.remove(key(bytes)));
    }
    assertSame(List.of(), forward(new byte[0], true, 100));
    assertSame(List.of(), backward(new byte[0], true, 100));
    assertTrue(tree.insert(key(new byte[] {1, 2, 3, 4, 5, 6, 7, 8})));
  }

  /// A key of which three fit into a node.
  static byte[] randomKey(Random random) {
    return randomKey(
        random,
        random.nextInt(200) == 0
            ? random.nextInt(IndexNode.MAX_KEY_BYTES - 8) + 8
            : 8 + random.nextInt(20));
  }

  /// Most of them too long for a node, and different somewhere, or only at the end.
  private static byte[] longKey(Random random) {
    int[] lengths = {
      20,
      LongKey.PREFIX_BYTES,
      LongKey.PREFIX_BYTES + 1,
      IndexNode.MAX_KEY_BYTES,
      IndexNode.MAX_KEY_BYTES + 1,
      LongKey.PREFIX_BYTES + LongKey.BLOCK_BYTES,
      LongKey.PREFIX_BYTES + LongKey.BLOCK_BYTES + 1,
      LongKey.PREFIX_BYTES + 2 * LongKey.BLOCK_BYTES + 7
    };
    int length = lengths[random.nextInt(lengths.length)];
    if (random.nextInt(4) == 0) {
      return randomKey(random, 8 + random.nextInt(length));
    }
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 7);
    bytes[length - 1 - (random.nextBoolean() ? 0 : random.nextInt(length))] =
        (byte) random.nextInt(256);
    return bytes;
  }

  private static byte[] randomKey(Random random, int length) {
    byte[] bytes = new byte[length];
    // Few different bytes: long common prefixes.
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (random.nextInt(3) * 127);
    }
    bytes[length - 1] = (byte) random.nextInt(256);
    return bytes;
  }

  @Test
  void shouldReuseNodesOfAQueue() {
    // Ascending inserts, removals at the low end: what a queue does. The memory must not grow.
    for (long i = 0; i < 300_000; i++) {
      tree.insert(key(i, 0));
      if (i >= 2000) {
        assertTrue(tree.remove(key(i - 2000, 0)));
      }
    }
    assertTrue(pool.reservedBytes() < 2 << 20, "reserved " + pool.reservedBytes());
    assertEquals(2000, forward(new byte[0], true, 256).size());
  }

  /// @param front bytes in front of what differs
  @ParameterizedTest
  @ValueSource(ints = {0, 9_000})
  void shouldShowEveryStableEntryToScansBesideWriters(int front) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    int stable = front == 0 ? 3_000 : 300;
    for (long i = 0; i < stable; i++) {
      tree.insert(behind(front, i * 1000));
    }
    AtomicBoolean stop = new AtomicBoolean();
    List<Callable<Void>> writers = new ArrayList<>();
    for (int w = 1; w <= 2; w++) {
      int own = w;
      Random random = new Random(seed + w);
      writers.add(() -> {
        // Each writer has numbers of its own between the stable ones.
        NavigableSet<Long> mine = new TreeSet<>();
        while (!stop.get()) {
          long number = random.nextInt(stable) * 1000L + own + 2L * random.nextInt(100);
          if (random.nextBoolean()) {
            assertEquals(mine.add(number), tree.insert(behind(front, number)));
          } else {
            assertEquals(mine.remove(number), tree.remove(behind(front, number)));
          }
        }
        for (long number : mine) {
          assertTrue(tree.remove(behind(front, number)));
        }
        return null;
      });
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      List<Future<Void>> running = writers.stream().map(executor::submit).toList();
      try {
        for (int round = 0; round < 40; round++) {
          boolean up = round % 2 == 0;
          List<byte[]> found =
              up ? forward(new byte[0], true, 64) : backward(new byte[0], true, 64);
          checkOrder(found, up);
          assertEquals(
              stable, found.stream().filter(b -> KeyBuffer.longAt(b, front) % 1000 == 0).count());
        }
      } finally {
        stop.set(true);
      }
      for (Future<Void> writer : running) {
        writer.get();
      }
    }
    assertEquals(stable, forward(new byte[0], true, 64).size());
  }

  private static KeyBuffer behind(int front, long number) {
    KeyBuffer key = new KeyBuffer(front + 16);
    key.length = front;
    key.putBytes(key(number, 3));
    return key;
  }

  private static void checkOrder(List<byte[]> found, boolean up) {
    for (int i = 1; i < found.size(); i++) {
      int order = Arrays.compareUnsigned(found.get(i - 1), found.get(i));
      assertTrue(up ? order < 0 : order > 0, "entries out of order at " + i);
    }
  }
}
