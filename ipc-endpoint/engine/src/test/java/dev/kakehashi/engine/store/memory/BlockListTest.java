package dev.kakehashi.engine.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;

/// Every block is freed with its size, once: it is what an allocation of that size gives next.
final class BlockListTest {
  /// Each size has a class of its own, but for the last two, whose blocks are mapped one by one.
  private static final int[] SIZES = {1, 100, 3_000, 32 << 10, 65_535, 65_536};

  @Test
  void shouldFreeEveryBlockWithItsSizeWhereItsPiecesMeet() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (MemoryPool pool = new MemoryPool(4L << 30)) {
      BlockList list = new BlockList();
      for (int round = 0; round < 3; round++) {
        int blocks = 30_000 + random.nextInt(1_000);
        long bytes = 0;
        for (int i = 0; i < blocks; i++) {
          // Large ones at the ends of pieces, too, where an address and its size are apart.
          int size = SIZES[random.nextInt(100) == 0 ? 4 + random.nextInt(2) : random.nextInt(3)];
          long before = pool.usedBytes();
          long address = pool.allocate(size);
          bytes += pool.usedBytes() - before;
          list.add(address, size);
        }
        assertEquals(blocks, list.count());
        assertEquals(bytes, pool.usedBytes());
        list.free(pool);
        assertEquals(0, list.count());
        assertEquals(0, pool.usedBytes());
      }
    }
  }

  @Test
  void shouldRefuseAnAddressThatDoesNotFit() {
    assertThrows(IllegalArgumentException.class, () -> new BlockList().add(1L << 48, 16));
  }
}
