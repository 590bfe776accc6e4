package dev.kakehashi.engine.exec.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rows that were seen are known, in memory or in files, and new ones come out once and in their order.
final class SeenRowsTest {
  private static final int[] OIDS = {TypeOid.INT8, TypeOid.TEXT};
  private static final int RANGE = 150_000;

  @TempDir Path directory;

  @Test
  void shouldGiveEachRowOnce() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    TempSpace space = new TempSpace(directory.resolve("temp"), Long.MAX_VALUE);
    MemoryAccount memory = new MemoryAccount();
    memory.open(1L << 20, space, () -> {});
    Set<Long> known = new HashSet<>();
    try (SeenRows seen = new SeenRows(OIDS, memory);
        VectorBatch batch = new VectorBatch(OIDS.length)) {
      for (int step = 0; step < 400; step++) {
        List<Long> expected = new ArrayList<>();
        List<Long> found = new ArrayList<>();
        try (RowBuffer fresh = new RowBuffer(OIDS, memory)) {
          // Few rows, or some thousands.
          int rows = random.nextInt(step % 8 == 0 ? 9000 : 10);
          while (rows > 0) {
            batch.reset();
            int count = Math.min(rows, 1 + random.nextInt(VectorBatch.CAPACITY));
            for (int k = 0; k < count; k++) {
              put(batch, random.nextInt(RANGE));
            }
            if (random.nextBoolean()) {
              batch.selected = 0;
              for (int k = 0; k < count; k += 2) {
                batch.selection[batch.selected++] = k;
              }
            }
            for (int k = 0; k < batch.liveRows(); k++) {
              long number = number(batch, batch.selected < 0 ? k : batch.selection[k]);
              if (known.add(number)) {
                expected.add(number);
              }
            }
            seen.add(batch, fresh);
            rows -= count;
          }
          seen.settle(fresh);
          RowBuffer.Reader reader = fresh.reader();
          while (reader.fill(batch)) {
            for (int k = 0; k < batch.size; k++) {
              found.add(number(batch, k));
            }
          }
        }
        assertEquals(expected, found, "step " + step + " of seed " + seed);
      }
      assertTrue(space.writtenBytes() > 0);
    }
    assertEquals(0, space.usedBytes());
  }

  /// Rows of the same number are equal; some have nulls.
  private static void put(VectorBatch batch, int number) {
    int row = batch.size++;
    batch.columns[0].words[row] = number;
    if (number % 5 == 0) {
      batch.columns[1].setNull(row);
    } else {
      batch.columns[1].words[row] =
          Values.ofText("text of " + number + "x".repeat(number % 50), batch.heap);
    }
  }

  private static long number(VectorBatch batch, int row) {
    assertEquals(batch.columns[0].words[row] % 5 == 0, batch.columns[1].isNull(row));
    return batch.columns[0].words[row];
  }
}
