package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A timeline that begins, and whose beginning a crash interrupts.
@Timeout(60)
final class TimelineStartTest {
  private static final byte[] FIRST = {2};
  private static final byte[] LAST = {(byte) 0xff};
  private static final Map<String, String> BEFORE = Map.of("key", "before");

  @TempDir private Path home;

  private Path log() {
    return home.resolve("log");
  }

  private DurableLog open() {
    return SmallLog.open(log(), home.resolve("rows"), null);
  }

  private static void put(DurableLog log, String value) {
    LogRecord record = new LogRecord(16);
    record.put("key".getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
    log.write(List.of(record));
  }

  private static Map<String, String> content(DurableLog log) {
    Map<String, String> found = new TreeMap<>();
    log.scan(
        FIRST,
        LAST,
        (key, value) ->
            found.put(
                StandardCharsets.UTF_8.decode(key).toString(),
                StandardCharsets.UTF_8.decode(value).toString()));
    return found;
  }

  private static LogPosition position(DurableLog log) {
    return Objects.requireNonNull(log.status()).position();
  }

  private static void copy(Path from, Path to) throws IOException {
    Directories.delete(to);
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  /// Leaves the timeline, and puts back what the log's files were before: as a crash leaves it that comes when the image has the new one.
  ///
  /// @return where the new one begins
  private LogPosition beginAndCrash() throws IOException {
    try (DurableLog log = open()) {
      put(log, "before");
    }
    Path old = home.resolve("old");
    copy(log(), old);
    byte[] mark = Files.readAllBytes(LogEnd.path(log()));
    LogPosition begin =
        Objects.requireNonNull(TimelineStart.leave(log(), home.resolve("rows"), null));
    copy(old, log());
    Files.write(LogEnd.path(log()), mark);
    return begin;
  }

  private void requireNewTimeline(LogPosition begin) {
    try (DurableLog log = open()) {
      assertEquals(begin, position(log));
      assertEquals(BEFORE, content(log));
      put(log, "after");
    }
    try (DurableLog log = open()) {
      assertEquals(Map.of("key", "after"), content(log));
      assertEquals(2, position(log).timeline());
    }
  }

  @Test
  void shouldBeEndedByTheNextStart() throws IOException {
    requireNewTimeline(beginAndCrash());
  }

  @Test
  void shouldBeEndedWhenTheOldLogIsGoneAlready() throws IOException {
    LogPosition begin = beginAndCrash();
    Directories.deleteContent(log());
    requireNewTimeline(begin);
  }

  @Test
  void shouldNotBeTakenForInterruptedWhenSomethingWasWritten() throws IOException {
    byte[] mark;
    try (DurableLog log = open()) {
      put(log, "before");
    }
    mark = Files.readAllBytes(LogEnd.path(log()));
    TimelineStart.leave(log(), home.resolve("rows"), null);
    Path rows = home.resolve("image");
    copy(home.resolve("rows"), rows);
    try (DurableLog log = open()) {
      put(log, "after");
    }
    // An older mark, and an image that has nothing of the new timeline yet.
    copy(rows, home.resolve("rows"));
    Files.write(LogEnd.path(log()), mark);
    EngineException refused = assertThrows(EngineException.class, this::open);
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    Files.delete(LogEnd.path(log()));
    try (DurableLog log = open()) {
      assertEquals(Map.of("key", "after"), content(log));
    }
  }
}
