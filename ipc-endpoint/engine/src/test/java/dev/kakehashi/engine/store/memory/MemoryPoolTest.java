package dev.kakehashi.engine.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/// Freed memory serves every size, the limit is kept, and its reserve is there for those who make room.
final class MemoryPoolTest {
  private static final long LIMIT = 16 << 20;
  private static final int LARGE_BYTES = MemoryPool.LARGEST_CLASS;

  /// Sizes of blocks, of all kinds.
  private static final int[] SIZES = {8, 64, 100, 224, 1000, 5000, 20_000, 32_768, 100_000};

  private static List<Long> fill(LongSupplier allocation) {
    List<Long> addresses = new ArrayList<>();
    try {
      while (true) {
        addresses.add(allocation.getAsLong());
      }
    } catch (EngineException full) {
      assertEquals("53200", full.code().sqlstate());
      return addresses;
    }
  }

  @Test
  void shouldGiveMemoryThatOneSizeHasLeftToEveryOther() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      for (int size : SIZES) {
        List<Long> blocks = fill(() -> pool.allocate(size));
        long bytes = blocks.size() * MemoryPool.blockBytes(size);
        assertTrue(bytes > LIMIT / 2, "only %d bytes in blocks of %d".formatted(bytes, size));
        assertTrue(pool.reservedBytes() <= LIMIT);
        blocks.forEach(block -> pool.free(block, size));
        assertEquals(0, pool.usedBytes());
        List<Long> pages = fill(() -> pool.allocate(LARGE_BYTES));
        assertTrue(pages.size() > LIMIT / LARGE_BYTES * 9 / 10, "pages " + pages.size());
        assertTrue(pool.reservedBytes() <= LIMIT);
        pages.forEach(page -> pool.free(page, LARGE_BYTES));
        List<Long> nodes = fill(pool::allocateNode);
        assertTrue(nodes.size() > LIMIT / MemoryPool.NODE_BYTES * 9 / 10, "nodes " + nodes.size());
        nodes.forEach(pool::freeNode);
        assertEquals(0, pool.usedBytes());
      }
    }
  }

  /// Free memory between blocks in use serves smaller ones.
  @Test
  void shouldGiveHolesOfLargerBlocksToSmallerOnesAtTheLimit() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      List<Long> blocks = fill(() -> pool.allocate(1000));
      for (int i = 0; i < blocks.size(); i += 2) {
        pool.free(blocks.get(i), 1000);
      }
      assertTrue(fill(() -> pool.allocate(64)).size() > blocks.size() / 3);
    }
  }

  @Test
  void shouldKeepAReserveForThoseWhoMakeRoom() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      fill(() -> pool.allocate(64));
      List<Long> reserved = fill(() -> pool.allocateToMakeRoom(64));
      assertTrue(reserved.size() > LIMIT / 16 / 64 * 9 / 10, "reserved " + reserved.size());
      // Memory that is freed in the reserve is not for others.
      pool.free(reserved.removeFirst(), 64);
      assertThrows(EngineException.class, () -> pool.allocate(64));
      pool.free(pool.allocateToMakeRoom(64), 64);
      reserved.forEach(block -> pool.free(block, 64));
      pool.freeNode(pool.allocateFirstNode());
      assertTrue(pool.reservedBytes() <= LIMIT);
    }
  }

  @Test
  void shouldTakeAnotherLimitAtOnce() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      List<Long> pages = fill(() -> pool.allocate(LARGE_BYTES));
      pool.limitBytes(2 * LIMIT);
      pages.addAll(fill(() -> pool.allocate(LARGE_BYTES)));
      assertTrue(pages.size() > 2 * LIMIT / LARGE_BYTES * 9 / 10);
      pool.limitBytes(LIMIT);
      pool.free(pages.removeLast(), LARGE_BYTES);
      pool.free(pages.removeLast(), LARGE_BYTES);
      assertThrows(EngineException.class, pool::allocateNode);
      pool.limited(false);
      pages.add(pool.allocate(LARGE_BYTES));
    }
  }

  @Test
  void shouldGiveMemoryThatNobodyUsesBackToTheSystem() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      fill(() -> pool.allocate(LARGE_BYTES)).forEach(page -> pool.free(page, LARGE_BYTES));
      assertTrue(pool.tidy());
      // A class keeps its last chunk.
      assertTrue(
          pool.reservedBytes() <= LIMIT / 16 + 2 * LARGE_BYTES, "reserved " + pool.reservedBytes());
      long large = pool.allocate(LIMIT * 3 / 4);
      Native.putLong(large, 1);
      assertTrue(pool.reservedBytes() <= LIMIT);
      pool.free(large, LIMIT * 3 / 4);
    }
  }

  /// A late reader of a freed node finds its version, or a greater one.
  @Test
  void shouldKeepNodesWhileSomebodyReadsThem() {
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      List<Long> nodes = fill(pool::allocateNode);
      nodes.forEach(node -> Native.putLong(node, 42));
      int cell = pool.nodeReaders().enter();
      nodes.forEach(pool::freeNode);
      // The chunk that the class keeps is for nodes only.
      assertThrows(EngineException.class, () -> pool.allocate(LARGE_BYTES));
      nodes.forEach(node -> assertEquals(42, Native.getLong(node)));
      pool.nodeReaders().leave(cell);
      long page = pool.allocate(LARGE_BYTES);
      Native.zero(page, LARGE_BYTES);
    }
  }

  /// Blocks do not overlap, whatever is taken and freed, and their sum is what the pool says.
  @Test
  void shouldKeepBlocksApart() {
    long seed = ThreadLocalRandom.current().nextLong();
    System.out.println("MemoryPoolTest seed " + seed);
    Random random = new Random(seed);
    try (MemoryPool pool = new MemoryPool(LIMIT)) {
      List<long[]> blocks = new ArrayList<>();
      Set<Long> known = new HashSet<>();
      for (int i = 0; i < 200_000; i++) {
        // Grows to the limit and shrinks again.
        if (blocks.isEmpty() || random.nextInt(100) < (i / 40_000 % 2 == 0 ? 70 : 35)) {
          int bytes = 8 + random.nextInt(1 << (3 + random.nextInt(13)));
          try {
            boolean making = bytes <= MemoryPool.LARGEST_CLASS && random.nextInt(10) == 0;
            long address = making ? pool.allocateToMakeRoom(bytes) : pool.allocate(bytes);
            assertEquals(0, address & 7);
            assertTrue(known.add(address), "seed " + seed);
            Native.putLong(address, address);
            Native.putLong(address + ((bytes - 8) & -8), address);
            blocks.add(new long[] {address, bytes});
          } catch (EngineException full) {
            assertEquals("53200", full.code().sqlstate());
          }
        } else {
          int at = random.nextInt(blocks.size());
          long[] block = blocks.set(at, blocks.getLast());
          blocks.removeLast();
          known.remove(block[0]);
          assertEquals(block[0], Native.getLong(block[0]), "seed " + seed);
          assertEquals(block[0], Native.getLong(block[0] + ((block[1] - 8) & -8)), "seed " + seed);
          pool.free(block[0], block[1]);
        }
        assertTrue(pool.reservedBytes() <= LIMIT, "seed " + seed);
      }
      blocks.forEach(block -> pool.free(block[0], block[1]));
      assertEquals(0, pool.usedBytes(), "seed " + seed);
    }
  }
}
