package dev.kakehashi.engine.embedded.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.testing.ChildProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Allocations of the store's memory fail in the midst of scripts: the statement succeeds or its client is told 53200, nothing of it stays,
/// and the same again succeeds. Afterwards no old version is held, and no memory.
///
/// Each allocation of a small script fails, and `-Dkakehashi.failedMemory` of the others.
final class FailedMemoryTest {
  @TempDir Path directory;

  @Test
  @Timeout(7200)
  void shouldLeaveNothingOfStatementsWithoutMemory() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    int failures = Integer.getInteger("kakehashi.failedMemory", 12);
    System.out.println("-Dkakehashi.seed=" + seed + " -Dkakehashi.failedMemory=" + failures);
    Path classes = directory.resolve("classes");
    assertTrue(FailingPool.write(classes) >= 5, "methods of MemoryPool that allocate");
    assertEquals(
        0,
        ChildProcess.run(
            classes,
            FailedMemoryProgram.class,
            directory.resolve("data").toString(),
            Long.toString(seed),
            Integer.toString(failures)));
  }
}
