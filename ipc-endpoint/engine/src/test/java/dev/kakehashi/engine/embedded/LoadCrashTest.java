package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that loads in batches is killed again and again, and goes on: each row is there once.
final class LoadCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Integer.getInteger("kakehashi.kills", 20) / 10;

  private static final int ROWS = 20_000;
  private static final int MOST_STEPS_BEFORE_KILL = 40;
  private static final String COPY =
      "copy t from 'in:x' (batch_rows 170, part_rows 3000, step_rows 60, load_id 'crash')";

  @TempDir Path directory;

  private static MemoryFiles files() {
    MemoryFiles files = new MemoryFiles();
    files.put("in:x", IntStream.range(0, ROWS).mapToObj(i -> i + "|row " + i).toList());
    return files;
  }

  @Test
  @Timeout(3600)
  void shouldLoadEachRowOnceThroughKills() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      KilledProcess.run(
          Loader.class, 1 + random.nextInt(MOST_STEPS_BEFORE_KILL), directory.toString());
    }
    try (TestEngine engine = new TestEngine(directory)) {
      engine.engine.bulkAccess(files());
      // Rows that the load reports are in the table. On a busy machine it may have been killed
      // before its first ones.
      assertEquals(
          engine.query("select count(*) from t"),
          engine.query(
              "select coalesce(sum(loaded), 0) from kakehashi_bulk.load_positions where part >= 0"));
      assertEquals(List.of(ROWS + "|" + ROWS + "|0|0|NULL|crash"), engine.query(COPY));
      assertEquals(
          List.of(ROWS + "|" + (ROWS - 1L) * ROWS / 2 + "|" + ROWS),
          engine.query("select count(*), sum(a), count(*) filter (where b = 'row ' || a) from t"));
    }
  }

  /// The process that is killed: it acknowledges each step of reading.
  static final class Loader {
    private Loader() {}

    public static void main(String[] arguments) {
      try (TestEngine engine = new TestEngine(Path.of(arguments[0]))) {
        engine.run("create table if not exists t (a int, b text)");
        MemoryFiles files = files();
        files.beforeBatch = () -> KilledProcess.acknowledge(1);
        engine.engine.bulkAccess(files);
        engine.run(COPY);
        // The load has ended before it was killed: there is nothing to be read any more.
        while (true) {
          KilledProcess.acknowledge(1);
        }
      } catch (EngineException failed) {
        throw new AssertionError(failed.hint(), failed);
      }
    }
  }
}
