package dev.kakehashi.engine.store.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class NativeTest {
  private static final int BYTES = 100;
  private static final int GUARD = 16;

  private static byte[] numbered(int from) {
    byte[] bytes = new byte[BYTES + 2 * GUARD];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (from + i);
    }
    return bytes;
  }

  /// Few bytes are copied in another way than many.
  @Test
  void shouldCopyAnyNumberOfBytesAndNoMore() {
    try (ScratchMemory memory = new ScratchMemory(4096)) {
      long source = memory.address();
      long target = source + 2048;
      byte[] from = numbered(1);
      byte[] before = numbered(100);
      for (int count = 0; count <= BYTES; count++) {
        for (int shift = 0; shift < 8; shift++) {
          byte[] expected = before.clone();
          System.arraycopy(from, shift, expected, GUARD, count);

          Native.copyFromArray(from, 0, source, from.length);
          Native.copyFromArray(before, 0, target, before.length);
          Native.copyApart(source + shift, target + GUARD, count);
          byte[] found = new byte[before.length];
          Native.copyToArray(target, found, 0, found.length);
          assertArrayEquals(expected, found, "copyApart of " + count);

          Native.copyFromArray(before, 0, target, before.length);
          Native.copyFromArray(from, shift, target + GUARD, count);
          Native.copyToArray(target, found, 0, found.length);
          assertArrayEquals(expected, found, "copyFromArray of " + count);

          found = before.clone();
          Native.copyToArray(source + shift, found, GUARD, count);
          assertArrayEquals(expected, found, "copyToArray of " + count);
        }
      }
    }
  }

  @Test
  void shouldNotCopyBeyondAnArray() {
    try (ScratchMemory memory = new ScratchMemory(4096)) {
      byte[] array = new byte[20];
      long address = memory.address();
      for (int count : new int[] {-1, 11, 60}) {
        assertThrows(
            IndexOutOfBoundsException.class, () -> Native.copyToArray(address, array, 10, count));
        assertThrows(
            IndexOutOfBoundsException.class, () -> Native.copyFromArray(array, 10, address, count));
      }
    }
  }

  /// Without a look at what is behind them: that may be of nobody.
  @Test
  void shouldPeekAtAsManyBytesAsRemain() {
    try (ScratchMemory memory = new ScratchMemory(4096)) {
      Native.copyFromArray(numbered(0x81), 0, memory.address(), BYTES);
      NativeInput input = new NativeInput();
      for (int bytes = 0; bytes <= 20; bytes++) {
        for (int skipped = 0; skipped <= bytes; skipped++) {
          input.set(memory.address(), bytes);
          input.skip(skipped);
          long expected = 0;
          for (int i = Math.min(8, bytes - skipped) - 1; i >= 0; i--) {
            expected = expected << 8 | (0x81 + skipped + i);
          }
          assertEquals(expected, input.peekLong(), skipped + " of " + bytes);
          assertEquals(bytes - skipped, input.remaining());
        }
      }
    }
  }

  @Test
  void shouldShareNeighboursAndGiveBackTheRest() {
    try (MemoryPool pool = new MemoryPool(64 << 20)) {
      long[] addresses = new long[3_000];
      int[] sizes = new int[addresses.length];
      try (PoolShare first = new PoolShare(pool);
          PoolShare second = new PoolShare(pool)) {
        for (int i = 0; i < addresses.length; i++) {
          sizes[i] = 1 + i * 7 % 9_000;
          addresses[i] = (i % 2 == 0 ? first : second).allocate(sizes[i]);
          Native.zero(addresses[i], sizes[i]);
        }
      }
      Integer[] order = new Integer[addresses.length];
      Arrays.setAll(order, i -> i);
      Arrays.sort(order, (a, b) -> Long.compare(addresses[a], addresses[b]));
      for (int i = 1; i < order.length; i++) {
        assertTrue(addresses[order[i - 1]] + sizes[order[i - 1]] <= addresses[order[i]]);
      }
      // Memory that they gave back is given out before the pool grows.
      long reserved = pool.reservedBytes();
      int left = 0;
      while (pool.reservedBytes() == reserved) {
        pool.allocate(16);
        left++;
      }
      assertTrue(left > 4_080, "left " + left);
      for (int i = 0; i < addresses.length; i++) {
        pool.free(addresses[i], sizes[i]);
      }
    }
  }
}
