package dev.kakehashi.engine.store.index;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.ScratchMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TreeLoadTest {
  private final MemoryPool pool = new MemoryPool(1L << 30);
  private final OrderedTree tree = new OrderedTree(pool);
  private final TreeLoad load = tree.load();

  @AfterEach
  void freeMemory() {
    pool.close();
  }

  private static Random random() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    return new Random(seed);
  }

  private static KeyBuffer key(byte[] bytes) {
    KeyBuffer key = new KeyBuffer(bytes.length);
    key.set(bytes, 0, bytes.length);
    return key;
  }

  private static byte[] entry(long number, int padding) {
    KeyBuffer key = new KeyBuffer(16);
    key.putLong(number);
    for (int i = 0; i < padding; i++) {
      key.putByte((int) (number + i));
    }
    return Arrays.copyOf(key.bytes, key.length);
  }

  private static NavigableSet<byte[]> set(Collection<byte[]> entries) {
    NavigableSet<byte[]> set = new TreeSet<>(Arrays::compareUnsigned);
    set.addAll(entries);
    return set;
  }

  /// Adds entries by runs, with as many in each as it has room for.
  private static void add(TreeLoad.Share share, Iterable<byte[]> entries, int runBytes) {
    try (ScratchMemory memory = new ScratchMemory(runBytes)) {
      EntryRun run = new EntryRun(memory.address(), runBytes);
      for (byte[] bytes : entries) {
        if (!run.add(key(bytes))) {
          share.add(run);
          run.clear();
          assertTrue(run.add(key(bytes)));
        }
      }
      share.add(run);
    }
  }

  private void complete(int parts) {
    load.merges(parts).forEach(Runnable::run);
    load.complete();
  }

  private void assertHas(NavigableSet<byte[]> expected) {
    assertEntries(expected, true);
    assertEntries(expected.descendingSet(), false);
  }

  private void assertEntries(Iterable<byte[]> expected, boolean forward) {
    List<byte[]> found = new ArrayList<>();
    KeyBuffer position = new KeyBuffer(16);
    EntryBatch batch = new EntryBatch();
    boolean more = true;
    for (boolean first = true; more; first = false) {
      more =
          forward
              ? tree.fetchForward(position, first || batch.inclusive, null, 256, batch)
              : tree.fetchBackward(position, first, 256, batch);
      for (int i = 0; i < batch.count(); i++) {
        int from = batch.offset(i);
        found.add(Arrays.copyOfRange(batch.bytes(), from, from + batch.length(i)));
      }
    }
    int i = 0;
    for (byte[] bytes : expected) {
      assertTrue(i < found.size(), "too few entries: " + found.size());
      assertArrayEquals(bytes, found.get(i), "entry " + i);
      i++;
    }
    assertEquals(i, found.size());
  }

  @Test
  void shouldTakeNoEntries() {
    TreeLoad.Share share = load.newShare();
    add(share, List.of(), 32 << 10);
    complete(4);
    assertHas(set(List.of()));
    assertTrue(tree.insert(key(entry(1, 0))));
    assertHas(set(List.of(entry(1, 0))));
  }

  @Test
  void shouldTakeRunsOfAnySizeInAnyNumberOfParts() {
    Random random = random();
    for (int round = 0; round < 30; round++) {
      assertBehavesAsASet(random);
    }
  }

  /// And goes on as one when it has been filled: nodes are as full as they may be, and become empty.
  private static void assertBehavesAsASet(Random random) {
    TreeLoadTest test = new TreeLoadTest();
    try {
      NavigableSet<byte[]> model = set(List.of());
      int shares = 1 + random.nextInt(3);
      for (int s = 0; s < shares; s++) {
        List<byte[]> entries = new ArrayList<>();
        for (int i = random.nextInt(8_000); i > 0; i--) {
          byte[] bytes = OrderedTreeTest.randomKey(random);
          if (model.add(bytes)) {
            entries.add(bytes);
          }
        }
        if (random.nextBoolean()) {
          entries.sort(Arrays::compareUnsigned);
        }
        add(test.load.newShare(), entries, 32 << (10 + random.nextInt(6)));
      }
      test.complete(1 + random.nextInt(9));
      test.assertHas(model);
      for (int i = 0; i < 4_000; i++) {
        byte[] bytes = OrderedTreeTest.randomKey(random);
        if (random.nextBoolean()) {
          assertEquals(model.add(bytes), test.tree.insert(key(bytes)));
        } else {
          byte[] victim = model.ceiling(bytes);
          if (victim != null) {
            assertTrue(model.remove(victim));
            assertTrue(test.tree.remove(key(victim)));
          }
        }
      }
      test.assertHas(model);
      for (byte[] bytes : List.copyOf(model)) {
        assertTrue(test.tree.remove(key(bytes)));
      }
      test.assertHas(set(List.of()));
    } finally {
      test.freeMemory();
    }
  }

  /// Enough of them that each 8 bytes are sorted by digits, where the differences are far behind the beginning, and some entries end where
  /// others go on with zeros.
  @Test
  void shouldSortEntriesThatAreEqualForLong() {
    Random random = random();
    List<byte[]> entries = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      byte[] entry = new byte[24 + random.nextInt(20)];
      entry[7] = (byte) random.nextInt(3);
      entry[18] = (byte) -random.nextInt(2);
      for (int at = 24; at < entry.length; at++) {
        entry[at] = (byte) (random.nextInt(3) - 1);
      }
      entries.add(entry);
    }
    NavigableSet<byte[]> model = set(entries);
    List<byte[]> distinct = new ArrayList<>(model);
    Collections.shuffle(distinct, random);
    add(load.newShare(), distinct, 2 << 20);
    complete(3);
    assertHas(model);
  }

  @Test
  void shouldTakeRunsAndMergesOfSeveralThreads() throws Exception {
    Random random = random();
    int threads = 3;
    List<List<byte[]>> shares = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      shares.add(new ArrayList<>());
    }
    NavigableSet<byte[]> model = set(List.of());
    for (long i = 0; i < 400_000; i++) {
      // Half of them in stretches of ascending keys that the threads take turns in, half at random
      // among some of them.
      boolean ascending = i % 2 == 0;
      byte[] bytes = entry(ascending ? i : random.nextInt(50_000) * 2L + 1, (int) (i % 5));
      if (model.add(bytes)) {
        shares.get(ascending ? (int) (i / 5_000) % threads : random.nextInt(threads)).add(bytes);
      }
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      runAll(
          executor,
          shares.stream()
              .<Runnable>map(share -> () -> add(load.newShare(), share, 256 << 10))
              .toList());
      List<Runnable> merges = load.merges(8);
      assertEquals(8, merges.size());
      runAll(executor, merges);
    }
    load.complete();
    assertHas(model);
  }

  private static void runAll(ExecutorService executor, List<Runnable> work) throws Exception {
    for (Future<?> running : work.stream().<Future<?>>map(executor::submit).toList()) {
      running.get();
    }
  }

  /// As rows in the order of their keys come: neither time nor memory goes into merging them.
  @Test
  void shouldTakeOverLeavesOfAscendingKeys() {
    int perStretch = 20_000;
    List<TreeLoad.Share> shares = List.of(load.newShare(), load.newShare());
    NavigableSet<byte[]> model = set(List.of());
    for (int stretch = 0; stretch < 10; stretch++) {
      List<byte[]> entries = new ArrayList<>();
      for (long i = 0; i < perStretch; i++) {
        entries.add(entry((long) stretch * perStretch + i, 8));
      }
      model.addAll(entries);
      add(shares.get(stretch % 2), entries, 4 << 20);
    }
    complete(4);
    assertHas(model);
    long full = (long) model.size() * (16 + IndexNode.SLOT_BYTES);
    assertTrue(pool.reservedBytes() < full * 5 / 4, "reserved " + pool.reservedBytes());
  }

  /// Leaves that have been read make room for those that are made of them.
  @Test
  void shouldMergeInPlace() {
    Random random = random();
    List<byte[]> entries = new ArrayList<>();
    for (long i = 0; i < 300_000; i++) {
      entries.add(entry(i, 8));
    }
    Collections.shuffle(entries, random);
    add(load.newShare(), entries.subList(0, 150_000), 1 << 20);
    add(load.newShare(), entries.subList(150_000, 300_000), 1 << 20);
    long before = pool.reservedBytes();
    complete(2);
    assertHas(set(entries));
    long after = pool.reservedBytes();
    assertTrue(after < before * 11 / 10, "reserved " + before + ", then " + after);
  }

  @Test
  void shouldNotTakeThePlaceOfEntries() {
    assertTrue(tree.insert(key(entry(1, 0))));
    add(load.newShare(), List.of(entry(2, 0)), 32 << 10);
    assertThrows(IllegalStateException.class, load::complete);
    assertFalse(tree.insert(key(entry(1, 0))));
  }
}
