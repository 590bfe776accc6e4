package dev.kakehashi.engine.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Ranges divided by the keys of inner nodes: each entry belongs to one part, and the parts are alike.
final class RangeDivisionTest {
  /// Before each number, so that inner nodes have few children and there are several levels of them.
  private static final byte[] PREFIX = new byte[60];

  private static final int STEP = 1000;

  private final MemoryPool pool = new MemoryPool(1L << 30);
  private final OrderedTree tree = new OrderedTree(pool);
  private final Random random = new Random(seed());

  @AfterEach
  void freeMemory() {
    pool.close();
  }

  private static long seed() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of RangeDivisionTest: " + seed);
    return seed;
  }

  private static KeyBuffer key(long number) {
    KeyBuffer key = new KeyBuffer(80);
    key.set(PREFIX, 0, PREFIX.length);
    key.putLong(number);
    return key;
  }

  private void fill(int count) {
    for (long i = 0; i < count; i++) {
      tree.insert(key(i * STEP));
    }
  }

  private static KeyBuffer buffer(byte[] bytes) {
    KeyBuffer key = new KeyBuffer(bytes.length);
    key.set(bytes, 0, bytes.length);
    return key;
  }

  /// Numbers of the entries `[from, to)`, in order.
  private List<Long> scan(KeyBuffer from, @Nullable KeyBuffer to) {
    List<Long> found = new ArrayList<>();
    KeyBuffer position = new KeyBuffer(80);
    position.set(from);
    EntryBatch entries = new EntryBatch();
    boolean inclusive = true;
    boolean more = true;
    while (more) {
      more = tree.fetchForward(position, inclusive, to, 100, entries);
      inclusive = entries.inclusive;
      for (int i = 0; i < entries.count(); i++) {
        found.add(entries.rowId(i));
      }
    }
    return found;
  }

  /// The parts' ends; null: the end of the tree.
  private static List<@Nullable KeyBuffer> ends(
      KeyBuffer from, @Nullable KeyBuffer to, RangeDivision division) {
    List<@Nullable KeyBuffer> ends = new ArrayList<>();
    KeyBuffer last = from;
    for (byte[] bytes : division.keys()) {
      KeyBuffer next = buffer(bytes);
      assertTrue(KeyBuffer.compare(last, next) < 0, last + " then " + next);
      assertTrue(to == null || KeyBuffer.compare(next, to) < 0, next + " before " + to);
      ends.add(next);
      last = next;
    }
    ends.add(to);
    return ends;
  }

  private List<List<Long>> parts(KeyBuffer from, @Nullable KeyBuffer to, RangeDivision division) {
    List<List<Long>> parts = new ArrayList<>();
    KeyBuffer begin = from;
    for (KeyBuffer end : ends(from, to, division)) {
      parts.add(scan(begin, end));
      begin = end == null ? begin : end;
    }
    return parts;
  }

  @Test
  void shouldDivideEntriesIntoPartsOfAboutTheSameSize() {
    int count = 60_000;
    fill(count);
    for (int round = 0; round < 60; round++) {
      long low = random.nextInt(count);
      long high = low + random.nextInt(count);
      KeyBuffer from = round % 10 == 0 ? new KeyBuffer(16) : key(low * STEP);
      KeyBuffer to = round % 7 == 0 ? null : key(high * STEP);
      int most = 1 + random.nextInt(40);
      RangeDivision division = tree.divide(from, to, most);
      List<Long> whole = scan(from, to);
      List<List<Long>> parts = parts(from, to, division);
      assertEquals(whole, parts.stream().flatMap(List::stream).toList());
      assertTrue(parts.size() <= most, parts.size() + " of " + most);
      // A leaf that is full has 88 entries; inner nodes are looked at one by one, or their children
      // are counted as 64.
      assertTrue(
          division.leaves() >= whole.size() / 300 && division.leaves() <= whole.size() / 20 + 2,
          division.leaves() + " leaves of " + whole.size());
      if (whole.size() > 10_000) {
        assertEquals(most, parts.size());
        long largest = parts.stream().mapToLong(List::size).max().orElse(0);
        assertTrue(
            largest <= 4L * whole.size() / most, largest + " of " + whole.size() + " in " + most);
      }
    }
  }

  @Test
  void shouldNotDivideWhatHasOneLeafOrNoEntries() {
    assertEquals(new RangeDivision(List.of(), 1), tree.divide(new KeyBuffer(16), null, 8));
    fill(20_000);
    assertEquals(1, tree.divide(key(5_000), key(5_000), 8).leaves());
    assertEquals(List.of(), tree.divide(key(9_000_000), key(4_000_000), 8).keys());
    assertTrue(tree.divide(key(9_000_000), key(9_000_000 + 3 * STEP), 8).keys().size() <= 1);
    for (long i = 0; i < 20_000; i++) {
      assertTrue(tree.remove(key(i * STEP)));
    }
    assertEquals(
        0,
        parts(new KeyBuffer(16), null, tree.divide(new KeyBuffer(16), null, 8)).stream()
            .mapToInt(List::size)
            .sum());
  }

  /// Divided and scanned part by part while nodes are split and removed: what is there all the time is found once.
  @Test
  void shouldHaveEachStableEntryInOnePartBesideWriters() throws Exception {
    int stable = 20_000;
    fill(stable);
    List<Long> expected = new ArrayList<>();
    for (long i = 0; i < stable; i++) {
      expected.add(i * STEP);
    }
    AtomicBoolean stop = new AtomicBoolean();
    try (ExecutorService executor = Executors.newFixedThreadPool(3)) {
      List<Future<?>> writers = new ArrayList<>();
      for (int w = 1; w <= 2; w++) {
        long own = w;
        Random writing = new Random(random.nextLong());
        writers.add(executor.submit(() -> write(writing, stable, own, stop)));
      }
      try {
        int divided = 0;
        for (int round = 0; round < 60; round++) {
          KeyBuffer from = new KeyBuffer(16);
          RangeDivision division = tree.divide(from, null, 16);
          divided += division.keys().isEmpty() ? 0 : 1;
          // Another thread scans what comes first, at the same time.
          List<@Nullable KeyBuffer> ends = ends(from, null, division);
          int middle = ends.size() / 2;
          KeyBuffer border = middle == 0 ? null : ends.get(middle - 1);
          Future<List<Long>> first =
              executor.submit(() ->
                  border == null ? List.<Long>of() : scanParts(from, ends.subList(0, middle)));
          List<Long> found =
              new ArrayList<>(
                  scanParts(border == null ? from : border, ends.subList(middle, ends.size())));
          found.addAll(0, first.get());
          assertEquals(expected, found.stream().filter(number -> number % STEP == 0).toList());
        }
        assertEquals(60, divided);
      } finally {
        stop.set(true);
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
    }
    assertEquals(expected, scan(new KeyBuffer(16), null));
  }

  private List<Long> scanParts(KeyBuffer from, List<@Nullable KeyBuffer> ends) {
    List<Long> found = new ArrayList<>();
    KeyBuffer begin = from;
    for (KeyBuffer end : ends) {
      found.addAll(scan(begin, end));
      begin = end == null ? begin : end;
    }
    return found;
  }

  /// Fills stretches between stable entries, so that their nodes split again and again, and empties them.
  private void write(Random writing, int stable, long own, AtomicBoolean stop) {
    while (!stop.get()) {
      long base = writing.nextInt(stable) * (long) STEP;
      for (long i = 0; i < 200; i++) {
        assertTrue(tree.insert(key(base + own + 2 * i)));
      }
      for (long i = 0; i < 200; i++) {
        assertTrue(tree.remove(key(base + own + 2 * i)));
      }
    }
  }
}
