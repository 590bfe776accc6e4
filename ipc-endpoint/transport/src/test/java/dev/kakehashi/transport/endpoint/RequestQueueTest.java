package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.transport.TransportConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import net.openhft.chronicle.core.time.SetTimeProvider;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Retention of one request queue. The appenders' clock is set by the test, so that cycles roll when it says so.
@SuppressWarnings("NullAway.Init") // set before each test
class RequestQueueTest {
  private static final int CYCLES = 4;
  private static final int REQUESTS_PER_CYCLE = 25_000;
  private static final int REQUESTS_PER_POLL = 1000;
  private static final int REQUEST_BYTES = 300;

  /// Punching works in steps of 2 MiB and spares the tail (132 KiB); the rest is for one poll's requests, the index and the table.
  private static final long MAX_ALLOCATED_BYTES = 4L << 20;

  private Path root;
  private TransportConfig config;
  private RuntimeDirectory runtime;
  private RequestQueue queue;
  private Path directory;
  private SetTimeProvider clock;
  private long appended;
  private long consumed;

  @BeforeEach
  void create() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    config = TransportConfig.defaults(root.resolve("run"));
    runtime = RuntimeDirectory.open(config);
    int uid = (Integer) Files.getAttribute(root, "unix:uid");
    queue = RequestQueue.create(runtime, new RequestQueue.Writers(uid, 0, 2, 0), config);
    directory = runtime.queues().resolve(queue.name());
    // Earlier than now by more than the test rolls: the reader's clock is the real one.
    clock = new SetTimeProvider((System.currentTimeMillis() - 3_600_000L) * 1_000_000L);
  }

  @AfterEach
  void remove() throws IOException {
    queue.close();
    runtime.close();
    try (var paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Test
  void shouldKeepMemoryBoundedAndLoseNothingOverSeveralCycles() throws Exception {
    long most = 0;
    try (ChronicleQueue writers = open();
        ExcerptAppender appender = writers.createAppender();
        ExcerptAppender idle = writers.createAppender()) {
      append(idle);
      poll();
      Path before = queue.currentFile();
      for (int cycle = 0; cycle < CYCLES; cycle++) {
        for (int i = 0; i < REQUESTS_PER_CYCLE; i++) {
          append(appender);
          if (i % REQUESTS_PER_POLL == 0) {
            poll();
          }
          if (i % (5 * REQUESTS_PER_POLL) == 0) {
            most = Math.max(most, allocatedBytes());
          }
        }
        poll();
        most = Math.max(most, allocatedBytes());
        assertEquals(List.of(Objects.requireNonNull(queue.currentFile())), cycleFiles());
        clock.advanceMillis(60_000);
      }
      // An appender that still has the first file mapped finds the current one.
      append(idle);
      poll();
      assertNotEquals(before, queue.currentFile());
      assertEquals(List.of(Objects.requireNonNull(queue.currentFile())), cycleFiles());
    }
    assertEquals(2L + (long) CYCLES * REQUESTS_PER_CYCLE, consumed);
    assertTrue(most <= MAX_ALLOCATED_BYTES, "allocated " + most + " bytes at most");
  }

  @Test
  void shouldTakeRequestsOfAppenderThatOpensPunchedQueue() {
    try (ChronicleQueue writers = open();
        ExcerptAppender appender = writers.createAppender()) {
      for (int i = 0; i < REQUESTS_PER_CYCLE; i++) {
        append(appender);
      }
      poll();
    }
    // Finds the tail by the index of the punched file, then rolls, with older files gone.
    for (int i = 0; i < 3; i++) {
      try (ChronicleQueue writers = open();
          ExcerptAppender appender = writers.createAppender()) {
        append(appender);
        poll();
        clock.advanceMillis(60_000);
        append(appender);
        poll();
      }
    }
    assertEquals(REQUESTS_PER_CYCLE + 6L, consumed);
  }

  @Test
  void shouldDropRequestLongerThanAnyAndGoOn() {
    try (ChronicleQueue writers = open();
        ExcerptAppender appender = writers.createAppender()) {
      append(appender);
      try (DocumentContext document = appender.writingDocument()) {
        Objects.requireNonNull(document.wire())
            .bytes()
            .write(new byte[config.queue().maxFrameBytes() + 1]);
      }
      append(appender);
      poll();
    }
    assertEquals(2, consumed);
  }

  /// As a client opens it.
  private ChronicleQueue open() {
    return SingleChronicleQueueBuilder.single(directory.toFile())
        .rollCycle(RequestQueue.ROLL_CYCLE)
        .blockSize(config.queue().blockBytes())
        .timeProvider(clock)
        .build();
  }

  private void append(ExcerptAppender appender) {
    byte[] request = new byte[REQUEST_BYTES];
    java.nio.ByteBuffer.wrap(request).putLong(0, appended).putLong(REQUEST_BYTES - 8, ~appended);
    try (DocumentContext document = appender.writingDocument()) {
      Objects.requireNonNull(document.wire()).bytes().write(request);
    }
    appended++;
  }

  /// Consumes everything, checking that each request is the next.
  private void poll() {
    while (queue.poll(
            (from, frame) -> {
              long number = frame.getLong(0, java.nio.ByteOrder.BIG_ENDIAN);
              assertEquals(REQUEST_BYTES, frame.capacity());
              assertEquals(consumed, number);
              assertEquals(
                  ~number, frame.getLong(REQUEST_BYTES - 8, java.nio.ByteOrder.BIG_ENDIAN));
              consumed++;
            },
            32)
        > 0) {}
    assertEquals(appended, consumed);
  }

  private List<Path> cycleFiles() throws IOException {
    try (var files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".cq4")).sorted().toList();
    }
  }

  /// Memory that the files really take: Java does not tell.
  private long allocatedBytes() throws IOException, InterruptedException {
    Process du =
        new ProcessBuilder("du", "-s", "--block-size=1", directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, du.waitFor());
    return Long.parseLong(output.substring(0, output.indexOf('\t')));
  }
}
