package dev.kakehashi.engine.exec.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.protocol.TypeOid;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs in files are merged so that few are open, and equal rows keep the order of their runs.
final class SortedFilesTest {
  private static final int RUNS = 3000;
  private static final int KEYS = 5;

  @TempDir Path directory;

  @Test
  void shouldKeepFewFilesAndTheOrderOfEqualRows() {
    TempSpace space = new TempSpace(directory.resolve("temp"), Long.MAX_VALUE);
    MemoryAccount memory = new MemoryAccount();
    memory.open(1L << 20, space, () -> {});
    ColumnKind[] kinds = MaterializedRows.kinds(new int[] {TypeOid.INT4, TypeOid.INT8});
    RowOrder order = new RowOrder(List.of(new SortKey(0, false, false)), memory);
    try (SortedFiles files = new SortedFiles(kinds, order, memory, Long.MAX_VALUE)) {
      ColumnVector[] row = {new ColumnVector(1), new ColumnVector(1)};
      int most = 0;
      for (int run = 0; run < RUNS; run++) {
        SpillFile file = files.begin();
        for (int key = 0; key < KEYS; key++) {
          row[0].words[0] = key;
          row[1].words[0] = run;
          file.append(row, 0);
        }
        files.end();
        most = Math.max(most, files.size());
      }
      // Three powers of the number of files that are merged at a time.
      assertTrue(most <= 3 * memory.mostReaders(), most + " files");
      files.reduce();
      assertTrue(files.size() <= memory.mostReaders(), files.size() + " files");
      SortedRows.Merge merged = files.merge(memory.bufferBytes());
      for (int key = 0; key < KEYS; key++) {
        for (int run = 0; run < RUNS; run++) {
          SortedRows next = merged.next();
          assertTrue(next != null && next.word(0) == key && next.word(1) == run);
        }
      }
      assertNull(merged.next());
    }
    assertEquals(0, space.usedBytes());
  }
}
