package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Groups of a primary that a standby writes together, and power losses and faults of the disk amid them.
@Timeout(60)
final class ReceivedGroupsTest {
  private static final int SEGMENT_BYTES = 16 << 10;
  private static final byte[] FIRST = {1};
  private static final byte[] LAST = {(byte) 0xff};

  /// Twelve of them fill a segment.
  private static final int VALUE_BYTES = 900;

  /// A group that no segment has room for.
  private static final int LONG_BYTES = 10_000;

  @TempDir private Path home;
  private final FaultyFile.Disk disk = new FaultyFile.Disk();
  private final List<LogReader.Read> groups = new ArrayList<>();

  private SegmentedLog open(String name) {
    Path directory = home.resolve(name);
    return SegmentedLog.open(
        directory.resolve("log"),
        directory.resolve("rows"),
        new SegmentedLog.Options(SEGMENT_BYTES, Long.MAX_VALUE, Long.MAX_VALUE, disk::open));
  }

  /// The primary's groups, 0 to 19, the tenth of them long; and a standby that has none of them.
  @BeforeEach
  void start() throws IOException {
    Files.createDirectory(home.resolve("primary"));
    try (SegmentedLog primary = open("primary")) {
      copy("primary", "fresh");
      copy("primary", "standby");
      long at = primary.end();
      for (int i = 0; i < 20; i++) {
        LogRecord record = new LogRecord(16);
        record.put(key(i), new byte[i == 10 ? LONG_BYTES : VALUE_BYTES]);
        primary.write(List.of(record));
      }
      LogReader reader = primary.reader();
      while (at < primary.end()) {
        LogReader.Read read = reader.next(at, primary.end());
        groups.add(read);
        at = read.end();
      }
    }
  }

  private static byte[] key(int number) {
    return "key %02d".formatted(number).getBytes(StandardCharsets.UTF_8);
  }

  /// Copies files as they are, as those that a loss of power leaves.
  private void copy(String from, String to) throws IOException {
    Path source = home.resolve(from);
    Directories.delete(home.resolve(to));
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        // A segment that is just being made has no name yet.
        if (!file.getFileName().equals(LogSegments.FRESH)) {
          Files.copy(file, home.resolve(to).resolve(source.relativize(file)));
        }
      }
    }
  }

  private void add(ReceivedGroups received, int from, int to) {
    groups.subList(from, to).forEach(read -> received.add(read.group(), read.end()));
  }

  private static List<String> keys(SegmentedLog log) {
    List<String> found = new ArrayList<>();
    log.scan(FIRST, LAST, (key, value) -> found.add(StandardCharsets.UTF_8.decode(key).toString()));
    return found;
  }

  private static List<String> keysTo(int end) {
    return IntStream.range(0, end)
        .mapToObj(i -> new String(key(i), StandardCharsets.UTF_8))
        .toList();
  }

  /// Overwrites what a group has behind its header, wherever it lies, with zeros.
  ///
  /// @param last the last frame that it has; otherwise the first
  private void lose(String name, int group, boolean last) throws IOException {
    long start = group == 0 ? LogFormat.HEADER_BYTES : groups.get(group - 1).end();
    long position = last ? groups.get(group).end() - 200 : start + 100;
    Path file = LogSegments.path(home.resolve(name).resolve("log"), position / SEGMENT_BYTES);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(
          ByteBuffer.wrap("lost".getBytes(StandardCharsets.UTF_8)), position % SEGMENT_BYTES);
    }
  }

  /// Writes groups of a standby, and loses power before they are forced.
  ///
  /// @param forced number of groups that have been forced before
  private void loseAfter(int forced, int written) throws IOException {
    copy("fresh", "standby");
    try (SegmentedLog standby = open("standby")) {
      ReceivedGroups received = standby.follow();
      add(received, 0, forced);
      received.force();
      add(received, forced, written);
      copy("standby", "lost");
    }
  }

  @Test
  void shouldForceOnceForGroupsThatComeTogether() {
    try (SegmentedLog standby = open("standby")) {
      ReceivedGroups received = standby.follow();
      long before = standby.end();
      int forces = disk.forces.get();
      add(received, 0, 5);
      assertEquals(forces, disk.forces.get());
      assertEquals(before, standby.end(), "nobody sees what is not durable");
      received.force();
      received.force();
      assertEquals(forces + 1, disk.forces.get());
      assertEquals(groups.get(4).end(), standby.end());
      add(received, 5, 20);
      received.force();
    }
    try (SegmentedLog standby = open("standby")) {
      assertEquals(keysTo(20), keys(standby));
    }
  }

  @Test
  void shouldEndBeforeTheFirstGroupThatALossOfPowerHasTaken() throws Exception {
    loseAfter(2, 6);
    lose("lost", 3, false);
    try (SegmentedLog standby = open("lost")) {
      assertEquals(groups.get(2).end(), standby.end());
      ReceivedGroups received = standby.follow();
      add(received, 3, 20);
      received.force();
    }
    try (SegmentedLog standby = open("lost")) {
      assertEquals(keysTo(20), keys(standby));
    }
  }

  @Test
  void shouldEndBeforeAGroupOfTwoSegmentsWhoseEndIsLost() throws Exception {
    assertTrue(
        groups.get(9).end() / SEGMENT_BYTES < groups.get(10).end() / SEGMENT_BYTES,
        "it is in two segments");
    assertEquals(
        groups.get(10).end() / SEGMENT_BYTES,
        groups.get(11).end() / SEGMENT_BYTES,
        "one follows in the last");
    loseAfter(9, 12);
    lose("lost", 10, true);
    try (SegmentedLog standby = open("lost")) {
      assertEquals(groups.get(9).end(), standby.end());
    }
  }

  @Test
  void shouldRefuseLossesOfForcedGroups() throws Exception {
    loseAfter(0, 15);
    lose("lost", 1, false);
    // A segment is forced before the next one is begun.
    EngineException refused = assertThrows(EngineException.class, () -> open("lost"));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    loseAfter(4, 4);
    lose("lost", 2, false);
    refused = assertThrows(EngineException.class, () -> open("lost"));
    assertTrue(String.valueOf(refused.getMessage()).contains("were durable"), refused::getMessage);
  }

  @Test
  void shouldRefuseALogThatIsNoStandbysWhereGroupsFollow() throws Exception {
    copy("standby", "other");
    try (SegmentedLog other = open("other")) {
      // As a primary writes them.
      for (int i = 0; i < 4; i++) {
        LogRecord record = new LogRecord(16);
        record.put(key(i), new byte[VALUE_BYTES]);
        other.write(List.of(record));
      }
      copy("other", "lost");
    }
    Files.delete(LogEnd.path(home.resolve("lost").resolve("log")));
    lose("lost", 2, false);
    EngineException refused = assertThrows(EngineException.class, () -> open("lost"));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("commits follow"), refused::getMessage);
  }

  @Test
  void shouldWriteEverythingAgainAfterAFaultOfTheDisk() {
    try (SegmentedLog standby = open("standby")) {
      ReceivedGroups received = standby.follow();
      add(received, 0, 2);
      received.force();
      long durable = standby.end();
      add(received, 2, 4);
      disk.forceError.set("Input/output error");
      assertEquals(ErrorCode.IO_ERROR, assertThrows(EngineException.class, received::force).code());
      disk.forceError.set(null);
      received.force();
      assertEquals(durable, standby.end(), "what was dropped is not taken for durable");
      add(received, 2, 4);
      disk.writeError.set("No space left on device");
      assertEquals(
          ErrorCode.DISK_FULL,
          assertThrows(EngineException.class, () -> add(received, 4, 5)).code());
      disk.writeError.set(null);
      received.force();
      assertEquals(durable, standby.end());
      add(received, 2, 20);
      received.force();
    }
    try (SegmentedLog standby = open("standby")) {
      assertEquals(keysTo(20), keys(standby));
    }
  }
}
