package dev.kakehashi.engine.exec.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class GroupTableTest {
  private static final long NULL_HASH = 0x9E37_79B9_7F4A_7C15L;

  /// The word that [RawMemory#mix] makes this of.
  private static long unmix(long mixed) {
    long z = unshift(mixed, 31) * inverse(0x94D0_49BB_1331_11EBL);
    z = unshift(z, 27) * inverse(0xBF58_476D_1CE4_E5B9L);
    return unshift(z, 30);
  }

  /// Takes `z ^ z >>> bits` back.
  private static long unshift(long shifted, int bits) {
    long z = shifted;
    for (int done = bits; done < Long.SIZE; done += bits) {
      z = shifted ^ (z >>> bits);
    }
    return z;
  }

  /// By Newton's iteration, which doubles the bits that are right.
  private static long inverse(long odd) {
    long x = odd;
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      x *= 2 - odd * x;
    }
    return x;
  }

  @Test
  void shouldTellNullFromTheIntegerWithItsHash() {
    long same = unmix(NULL_HASH);
    assertEquals(NULL_HASH, RawMemory.mix(same));
    GroupTable table = new GroupTable(new int[] {TypeOid.INT8}, new MemoryAccount().user());
    int[] groups = new int[VectorBatch.CAPACITY];
    try (VectorBatch batch = new VectorBatch(1)) {
      batch.size = 5;
      batch.columns[0].words[0] = same;
      batch.columns[0].setNull(1);
      batch.columns[0].words[2] = same;
      batch.columns[0].words[3] = 0;
      batch.columns[0].setNull(4);
      table.find(batch.columns, batch, groups);
      assertEquals(3, table.size());
      assertEquals(groups[0], groups[2]);
      assertEquals(groups[1], groups[4]);
      assertTrue(groups[0] != groups[1] && groups[3] != groups[1]);
    }
    table.clear();
  }

  @Test
  void shouldNumberIntegersAsAMapDoes() {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    GroupTable table = new GroupTable(new int[] {TypeOid.INT8}, new MemoryAccount().user());
    Map<@Nullable Long, Integer> numbers = new HashMap<>();
    int[] groups = new int[VectorBatch.CAPACITY];
    try (VectorBatch batch = new VectorBatch(1)) {
      for (int round = 0; round < 50; round++) {
        batch.reset();
        batch.size = VectorBatch.CAPACITY;
        @Nullable Long[] keys = new @Nullable Long[VectorBatch.CAPACITY];
        for (int row = 0; row < keys.length; row++) {
          keys[row] = random.nextInt(50) == 0 ? null : (long) random.nextInt(20_000) - 10_000;
          Long key = keys[row];
          if (key == null) {
            batch.columns[0].setNull(row);
          } else {
            batch.columns[0].words[row] = key;
          }
        }
        table.find(batch.columns, batch, groups);
        for (int row = 0; row < keys.length; row++) {
          int next = numbers.size();
          int expected = numbers.computeIfAbsent(keys[row], ofNew -> next);
          assertEquals(expected, groups[row], "seed " + seed);
        }
      }
    }
    assertEquals(numbers.size(), table.size());
    table.clear();
  }
}
