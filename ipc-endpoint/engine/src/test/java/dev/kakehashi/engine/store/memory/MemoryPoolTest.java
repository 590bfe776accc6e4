package dev.kakehashi.engine.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/// Freed pages are the system's until they are allocated again.
final class MemoryPoolTest {
  private static final int PAGES = 200;

  private static long[] allocate(MemoryPool pool) {
    long[] addresses = new long[PAGES];
    for (int i = 0; i < PAGES; i++) {
      addresses[i] = pool.allocatePage();
      for (int at = 0; at < MemoryPool.PAGE_BYTES; at += 8) {
        Native.putLong(addresses[i] + at, -1);
      }
    }
    return addresses;
  }

  @Test
  void shouldGiveFreedPagesBackToTheSystem() {
    try (MemoryPool pool = new MemoryPool(64 << 20)) {
      long[] addresses = allocate(pool);
      long full = pool.reservedBytes();
      pool.freePages(addresses);
      assertEquals(full - (long) PAGES * MemoryPool.PAGE_BYTES, pool.reservedBytes());
      // What the system has taken reads as zeros.
      for (long address : addresses) {
        for (int at = 0; at < MemoryPool.PAGE_BYTES; at += 8) {
          assertEquals(0, Native.getLong(address + at));
        }
      }
      long[] again = allocate(pool);
      assertEquals(full, pool.reservedBytes());
      Arrays.sort(addresses);
      Arrays.sort(again);
      assertTrue(Arrays.equals(addresses, again));
    }
  }

  @Test
  void shouldLetOtherMemoryUseWhatPagesHaveLeft() {
    try (MemoryPool pool = new MemoryPool(16 << 20)) {
      long[] addresses = allocate(pool);
      assertThrows(EngineException.class, () -> pool.allocate(8 << 20));
      pool.freePages(addresses);
      long large = pool.allocate(8 << 20);
      assertThrows(EngineException.class, () -> allocate(pool));
      pool.free(large, 8 << 20);
    }
  }
}
