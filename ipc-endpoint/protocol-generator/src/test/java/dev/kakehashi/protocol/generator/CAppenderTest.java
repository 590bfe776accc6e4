package dev.kakehashi.protocol.generator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.TestRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The C appender against the real library, in two processes: Java makes the queue, C appends, Java reads.
final class CAppenderTest {
  private static final long PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

  /// Smallest block of a roll cycle with 32768 index entries.
  private static final int BLOCK_BYTES = 1 << 20;

  @TempDir static Path tools;
  @TempDir Path directory;

  @BeforeAll
  static void compile() throws IOException, InterruptedException {
    assumeTrue(onPath("gcc") && onPath("make"), "gcc and make are needed");
    Path tests = Repository.root().resolve("fdw-extension/test/ipc");
    Process make =
        new ProcessBuilder("make", "-s", "-C", tests.toString(), "BUILD=" + tools, "tools")
            .inheritIO()
            .start();
    assertEquals(0, make.waitFor());
  }

  @Test
  void shouldReadWhatCAppendedOverRolls() throws IOException, InterruptedException {
    Path path = directory.resolve("queue");
    try (ChronicleQueue made = builder(path).build();
        ChronicleQueue queue = builder(path).readOnly(true).build()) {
      ExcerptTailer tailer = queue.createTailer();
      int count = 3000;
      Process appender = append(made, count, 17, 1_000_000);
      Received received = new Received(17);
      received.await(tailer, count);
      assertEquals(0, appender.waitFor());
      // 3 s of messages, a cycle each second
      assertTrue(received.cycles.size() >= 3, "cycles " + received.cycles);
      assertEquals(received.lastIndex, made.lastIndex());
      assertEquals(received.lastIndex, queue.createTailer().toEnd().index() - 1);
    }
  }

  @Test
  void shouldFindMessagesByTheIndexThatCWrote() throws IOException, InterruptedException {
    Path path = directory.resolve("queue");
    try (ChronicleQueue queue = builder(path).build()) {
      Process appender = append(queue, 20_000, 3, 0);
      assertEquals(0, appender.waitFor());
      List<Long> indexes = new ArrayList<>();
      ExcerptTailer tailer = queue.createTailer();
      for (int n = 0; n < 20_000; n++) {
        try (DocumentContext document = tailer.readingDocument()) {
          assertTrue(document.isPresent());
          indexes.add(document.index());
        }
      }
      for (int n = 0; n < 20_000; n += 997) {
        assertTrue(tailer.moveToIndex(indexes.get(n)));
        try (DocumentContext document = tailer.readingDocument()) {
          assertEquals(n, document.wire().bytes().readLong());
        }
      }
    }
  }

  @Test
  void shouldMakeFilesThatJavaAppendsTo() throws IOException, InterruptedException {
    Path path = directory.resolve("queue");
    try (ChronicleQueue queue = builder(path).build()) {
      assertEquals(0, append(queue, 100, 5, 0).waitFor());
      try (var appender = queue.createAppender();
          DocumentContext document = appender.writingDocument()) {
        document.wire().bytes().writeLong(100);
      }
      assertEquals(0, append(queue, 50, 5, 0).waitFor());
      ExcerptTailer tailer = queue.createTailer();
      for (int n = 0; n < 151; n++) {
        try (DocumentContext document = tailer.readingDocument()) {
          assertTrue(document.isPresent(), "message " + n);
          assertEquals(n <= 100 ? n : n - 101, document.wire().bytes().readLong());
        }
      }
    }
  }

  @Test
  void shouldGoOnAfterAnAppenderWasKilled() throws IOException, InterruptedException {
    Path path = directory.resolve("queue");
    try (ChronicleQueue queue = builder(path).build()) {
      for (int life = 0; life < 5; life++) {
        Process victim = append(queue, 1_000_000_000, 1, 0);
        ExcerptTailer tailer = queue.createTailer().toEnd();
        new Received(-1).await(tailer, 200);
        victim.destroyForcibly().waitFor();
      }
      long before = queue.lastIndex();
      assertEquals(0, append(queue, 10, 1, 0).waitFor());
      assertTrue(queue.lastIndex() > before);
      // Every life counts from 0 without a gap.
      ExcerptTailer tailer = queue.createTailer();
      long next = 0;
      int lives = 0;
      while (true) {
        try (DocumentContext document = tailer.readingDocument()) {
          if (!document.isPresent()) {
            break;
          }
          long n = document.wire().bytes().readLong();
          if (n == 0) {
            lives++;
          } else {
            assertEquals(next, n);
          }
          next = n + 1;
        }
      }
      assertEquals(6, lives);
      assertEquals(10, next);
    }
  }

  /// Messages as `kh_append` makes them; checks each one.
  private static final class Received {
    final SortedSet<Integer> cycles = new TreeSet<>();
    final long seed;
    long next;
    long lastIndex;

    /// @param seed negative: contents are not checked
    Received(long seed) {
      this.seed = seed;
    }

    void await(ExcerptTailer tailer, int count) {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (next < count) {
        try (DocumentContext document = tailer.readingDocument()) {
          if (document.isPresent()) {
            check(document);
            cycles.add(tailer.cycle());
            lastIndex = document.index();
          } else {
            assertTrue(System.nanoTime() < deadline, next + " messages arrived");
            Thread.onSpinWait();
          }
        }
      }
    }

    private void check(DocumentContext document) {
      byte[] bytes = document.wire().bytes().toByteArray();
      if (seed >= 0) {
        assertEquals(8 + (next * 7919 + seed) % 2000, bytes.length);
        assertEquals(next, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong());
        for (int i = 8; i < bytes.length; i++) {
          assertEquals((byte) (next * 31 + i + seed), bytes[i]);
        }
      }
      next++;
    }
  }

  private static SingleChronicleQueueBuilder builder(Path path) {
    return SingleChronicleQueueBuilder.binary(path)
        .rollCycle(TestRollCycles.TEST_SECONDLY)
        .blockSize(BLOCK_BYTES);
  }

  private Process append(ChronicleQueue queue, int count, long seed, long nanosApart)
      throws IOException {
    // The table is there as soon as the queue is built.
    assertTrue(
        Files.exists(((SingleChronicleQueue) queue).file().toPath().resolve("metadata.cq4t")));
    return new ProcessBuilder(
            tools.resolve("kh_append").toString(),
            queue.file().toString(),
            Integer.toString(BLOCK_BYTES),
            Integer.toString(count),
            Long.toString(seed),
            Long.toString(nanosApart))
        .inheritIO()
        .start();
  }

  private static boolean onPath(String program) throws IOException, InterruptedException {
    Process which =
        new ProcessBuilder("sh", "-c", "command -v " + program)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return which.waitFor(60, TimeUnit.SECONDS) && which.exitValue() == 0;
  }
}
