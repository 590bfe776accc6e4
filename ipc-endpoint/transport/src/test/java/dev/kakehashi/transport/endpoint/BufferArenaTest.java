package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Runs of blocks: none is given twice, and memory that is there goes first.
@SuppressWarnings("NullAway.Init") // set before each test
class BufferArenaTest {
  private static final int BLOCK_BYTES = 4096;
  private static final int BLOCKS = 32;

  /// Free blocks whose memory is kept.
  private static final int RETAINED = 2;

  private Path root;
  private RuntimeDirectory runtime;
  private BufferArena arena;

  @BeforeEach
  void create() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    TransportConfig config = TransportConfig.defaults(root.resolve("run"));
    runtime = RuntimeDirectory.open(config);
    arena =
        BufferArena.create(
            runtime,
            Credentials.ownUid(),
            new TransportConfig.Buffers(
                BLOCK_BYTES,
                BLOCK_BYTES,
                2 * BLOCK_BYTES,
                (long) BLOCKS * BLOCK_BYTES,
                (long) BLOCKS * BLOCK_BYTES,
                (long) RETAINED * BLOCK_BYTES));
  }

  @AfterEach
  void remove() throws IOException {
    arena.close();
    runtime.close();
    try (var paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Test
  void shouldTakeTheFirstRunThatIsLongEnough() {
    assertEquals(0, arena.allocate(4));
    assertEquals(4, arena.allocate(1));
    assertEquals(5, arena.allocate(4));
    arena.free(0, 4);
    assertEquals(9, arena.allocate(5), "the hole is too short");
    assertEquals(0, arena.allocate(3));
    assertEquals(3, arena.allocate(1));
  }

  @Test
  void shouldPreferMemoryThatIsThere() {
    assertEquals(0, arena.allocate(2));
    assertEquals(2, arena.allocate(2));
    assertEquals(4, arena.allocate(2));
    arena.free(2, 2); // is kept
    arena.free(0, 2); // goes to the system, as enough is kept
    assertEquals(2, arena.allocate(2));
    assertEquals(0, arena.allocate(2));
  }

  @Test
  void shouldReadZerosInMemoryThatWasGivenBack() {
    assertEquals(0, arena.allocate(RETAINED + 1));
    arena.memory(0, RETAINED + 1).fill((byte) 1);
    arena.free(0, RETAINED + 1);
    assertEquals(0, arena.allocate(RETAINED + 1));
    assertEquals(0, arena.memory(0, 1).get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void shouldTakeTheTailOfARunBack() {
    assertEquals(0, arena.allocate(8));
    arena.free(3, 5);
    assertEquals(3, arena.usedBlocks());
    assertEquals(3, arena.allocate(BLOCKS - 3));
  }

  @Test
  void shouldRefuseToFreeWhatIsFree() {
    assertEquals(0, arena.allocate(2));
    arena.free(0, 1);
    assertThrows(IllegalStateException.class, () -> arena.free(0, 2));
    assertEquals(1, arena.usedBlocks());
  }

  @Test
  void shouldSayThatNoRunIsLongEnough() {
    for (int block = 0; block < BLOCKS; block++) {
      assertEquals(block, arena.allocate(1));
    }
    assertEquals(-1, arena.allocate(1));
    arena.free(3, 1);
    arena.free(5, 1);
    assertTrue(arena.hasRun(1));
    assertFalse(arena.hasRun(2));
    assertEquals(-1, arena.allocate(2));
    arena.free(4, 1);
    assertEquals(3, arena.allocate(3));
    assertEquals(BLOCKS, arena.usedBlocks());
  }

  private record Run(int first, int blocks) {}

  @Test
  void shouldNeverGiveABlockTwice() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    BitSet used = new BitSet();
    List<Run> runs = new ArrayList<>();
    for (int step = 0; step < 2000; step++) {
      String at = "step " + step + " with seed " + seed;
      if (runs.isEmpty() || random.nextInt(5) < 3) {
        int blocks = 1 + random.nextInt(6);
        int first = arena.allocate(blocks);
        assertEquals(hasRun(used, blocks), first >= 0, at);
        if (first >= 0) {
          assertTrue(used.get(first, first + blocks).isEmpty(), at);
          assertTrue(first + blocks <= BLOCKS, at);
          used.set(first, first + blocks);
          runs.add(new Run(first, blocks));
        }
      } else {
        Run run = runs.remove(random.nextInt(runs.size()));
        arena.free(run.first(), run.blocks());
        used.clear(run.first(), run.first() + run.blocks());
      }
      assertEquals(used.cardinality(), arena.usedBlocks(), at);
    }
  }

  private static boolean hasRun(BitSet used, int blocks) {
    for (int first = 0; first + blocks <= BLOCKS; first++) {
      if (used.get(first, first + blocks).isEmpty()) {
        return true;
      }
    }
    return false;
  }
}
