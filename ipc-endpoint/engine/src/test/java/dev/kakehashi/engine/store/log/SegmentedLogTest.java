package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

@Timeout(60)
final class SegmentedLogTest {
  private static final int SEGMENT_BYTES = 8 << 10;
  private static final long NEVER = Long.MAX_VALUE;
  private static final byte[] FIRST = {1};
  private static final byte[] LAST = {(byte) 0xff};

  @TempDir Path directory;
  private final FaultyFile.Disk disk = new FaultyFile.Disk();

  private static Path logIn(Path home) {
    return home.resolve("log");
  }

  private SegmentedLog open(Path home, long checkpointBytes) {
    return SegmentedLog.open(
        logIn(home),
        home.resolve("rows"),
        new SegmentedLog.Options(SEGMENT_BYTES, 2 * SEGMENT_BYTES, checkpointBytes, disk::open));
  }

  private static LogRecord put(String key, String value) {
    LogRecord record = new LogRecord(16);
    record.put(bytes(key), bytes(value));
    return record;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Map<String, String> content(SegmentedLog log) {
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

  private Map<String, String> contentOf(Path home) {
    try (SegmentedLog log = open(home, NEVER)) {
      return content(log);
    }
  }

  /// Files that a crash leaves: as they are now. Only for a log that does not flush its image.
  private Path crashed(String name) throws IOException {
    Path copy = Files.createDirectory(directory.resolve(name));
    for (Path part : List.of(logIn(copy), copy.resolve("rows"))) {
      Files.createDirectory(part);
      Path source = directory.resolve("live").resolve(part.getFileName());
      try (Stream<Path> files = Files.exists(source) ? Files.list(source) : Stream.of()) {
        for (Path file : (Iterable<Path>) files::iterator) {
          // A segment that is just being made has no name yet.
          if (!file.getFileName().equals(LogSegments.FRESH)) {
            Files.copy(file, part.resolve(file.getFileName()));
          }
        }
      }
    }
    return copy;
  }

  private Path live() throws IOException {
    return Files.createDirectories(directory.resolve("live"));
  }

  private static void overwrite(Path file, long offset, byte[] bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), offset);
    }
  }

  private static Path segment(Path home, int number) throws IOException {
    return LogSegments.path(logIn(home), LogSegments.list(logIn(home)).get(number));
  }

  /// Offset of a value in a segment.
  private static int find(Path file, String value) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).indexOf(value);
  }

  @Test
  void shouldSayWhenTheImageHasTakenWhatLeavesNoRoom() throws Exception {
    var options = new SegmentedLog.Options(4 << 20, NEVER, NEVER, disk::open);
    var ready = new AtomicInteger();
    SegmentedLog log = SegmentedLog.open(logIn(live()), live().resolve("rows"), options);
    try {
      assertTrue(log.hasRoom(ready::incrementAndGet));
      LogRecord record = new LogRecord(16);
      for (int i = 0; i < 70; i++) {
        record.put(bytes("key " + i), new byte[1 << 20]);
      }
      log.write(List.of(record));
      assertFalse(log.hasRoom(ready::incrementAndGet));
      assertEquals(0, ready.get());
    } finally {
      log.close(); // applies it
    }
    assertEquals(1, ready.get());
    assertTrue(log.hasRoom(ready::incrementAndGet));
    assertEquals(1, ready.get());
  }

  @Test
  void shouldHaveAllWritesAfterACrash() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "1"), put("b", "2")));
      log.write(List.of(put("a", "3")));
      LogRecord delete = new LogRecord(16);
      delete.delete(bytes("b"), 1);
      log.write(List.of(delete, put("c", "4")));
      assertEquals(Map.of("a", "3", "c", "4"), contentOf(crashed("copy")));
    }
    assertEquals(Map.of("a", "3", "c", "4"), contentOf(live()));
  }

  @Test
  void shouldCutOffAWriteThatACrashHasTorn() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      log.write(List.of(put("a", "second"), put("b", "second")));
      Path copy = crashed("copy");
      Path file = segment(copy, 0);
      overwrite(file, find(file, "second"), new byte[1]);
      assertEquals(Map.of("a", "first"), contentOf(copy));
      try (SegmentedLog again = open(copy, NEVER)) {
        again.write(List.of(put("c", "third")));
      }
      assertEquals(Map.of("a", "first", "c", "third"), contentOf(copy));
    }
  }

  @Test
  void shouldReadALongWriteWholeOrNotAtAll() throws IOException {
    SegmentedLog.Options options = new SegmentedLog.Options(1 << 20, NEVER, NEVER, LogFile::open);
    try (SegmentedLog log = SegmentedLog.open(logIn(live()), live().resolve("rows"), options)) {
      log.write(List.of(put("a", "first")));
      String tens = "0123456789".repeat(2_000_000);
      log.write(List.of(put("a", "second"), put("b", tens), put("c", "third")));
      Path whole = crashed("whole");
      assertEquals(Map.of("a", "second", "b", tens, "c", "third"), contentOf(whole));
      Path torn = crashed("torn");
      int last = LogSegments.list(logIn(torn)).size() - 1;
      while (find(segment(torn, last), "third") < 0) {
        last--; // one is made ahead
      }
      overwrite(segment(torn, last), find(segment(torn, last), "third"), new byte[1]);
      assertEquals(Map.of("a", "first"), contentOf(torn));
    }
  }

  @Test
  void shouldRefuseADamagedWriteThatOthersFollow() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      log.write(List.of(put("a", "second")));
      log.write(List.of(put("a", "third")));
      Path copy = crashed("copy");
      Path file = segment(copy, 0);
      overwrite(file, find(file, "second"), bytes("S"));
      EngineException refused = assertThrows(EngineException.class, () -> open(copy, NEVER));
      assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("\"" + file + "\" is damaged at byte "), message);
    }
  }

  @Test
  void shouldRefuseDamageBeforeALaterSegment() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      log.write(List.of(put("b", "x".repeat(SEGMENT_BYTES))));
      log.write(List.of(put("c", "third")));
      Path copy = crashed("copy");
      // The frame's header, so that not even its length can be read.
      overwrite(segment(copy, 0), LogFormat.HEADER_BYTES, new byte[LogFormat.FRAME_HEADER_BYTES]);
      assertEquals(
          ErrorCode.DATA_CORRUPTED,
          assertThrows(EngineException.class, () -> open(copy, NEVER)).code());
    }
  }

  @Test
  void shouldRefuseAMissingSegmentAndADamagedHeader() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      for (int i = 0; i < 20; i++) {
        log.write(List.of(put("k" + i, "x".repeat(1000))));
      }
      for (int number = 0; number < 3; number++) {
        Path missing = crashed("missing" + number);
        Files.delete(segment(missing, number));
        assertEquals(
            ErrorCode.DATA_CORRUPTED,
            assertThrows(EngineException.class, () -> open(missing, NEVER)).code());
        Path damaged = crashed("damaged" + number);
        overwrite(segment(damaged, number), 16, bytes("?"));
        assertEquals(
            ErrorCode.DATA_CORRUPTED,
            assertThrows(EngineException.class, () -> open(damaged, NEVER)).code());
      }
    }
  }

  @Test
  void shouldHaveEachWriteWholeOrNotAtAllWhereverItIsTorn() throws IOException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Map<String, String> expected = new TreeMap<>();
    try (SegmentedLog log = open(live(), NEVER)) {
      for (int round = 0; round < 6; round++) {
        Path before = crashed("before" + round);
        List<LogRecord> group = new ArrayList<>();
        Map<String, String> after = new TreeMap<>(expected);
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          String key = "k" + random.nextInt(20);
          // Up to more than two segments, or the end of one nearly reached.
          String value = round + "-" + "v".repeat(random.nextInt(random.nextInt(1, 20_000)));
          group.add(put(key, value));
          after.put(key, value);
        }
        log.write(group);
        Path whole = crashed("whole" + round);
        assertEquals(after, contentOf(crashed("check" + round)));
        Path torn = tear(random, before, whole, directory.resolve("torn" + round));
        Map<String, String> found = contentOf(torn);
        assertTrue(found.equals(expected) || found.equals(after), "round " + round);
        try (SegmentedLog again = open(torn, NEVER)) {
          again.write(List.of(put("again", "short")));
        }
        found.put("again", "short");
        assertEquals(found, contentOf(torn));
        expected = after;
      }
    }
  }

  /// A copy of `whole` in which each sector of 512 bytes that the last write has changed is there or not.
  private static Path tear(Random random, Path before, Path whole, Path torn) throws IOException {
    try (Stream<Path> files = Files.walk(whole)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path relative = whole.relativize(file);
        Path old = before.resolve(relative);
        if (Files.isDirectory(file) || !relative.startsWith("log")) {
          Files.copy(file, torn.resolve(relative));
          continue;
        }
        byte[] bytes = Files.readAllBytes(file);
        byte[] oldBytes =
            Arrays.copyOf(Files.exists(old) ? Files.readAllBytes(old) : bytes, bytes.length);
        for (int at = LogFormat.HEADER_BYTES; at < bytes.length; at += 512) {
          if (random.nextBoolean() && Files.exists(old)) {
            System.arraycopy(oldBytes, at, bytes, at, Math.min(512, bytes.length - at));
          } else if (random.nextBoolean() && !Files.exists(old)) {
            Arrays.fill(bytes, at, Math.min(at + 512, bytes.length), (byte) 0);
          }
        }
        Files.write(torn.resolve(relative), bytes);
      }
    }
    return torn;
  }

  @Test
  void shouldStayShortAndUseItsSegmentsAgain() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    try (SegmentedLog log = open(live(), 4 * SEGMENT_BYTES)) {
      for (int i = 0; i < 100; i++) {
        String value = i + "-" + "x".repeat(2 * SEGMENT_BYTES);
        log.write(List.of(put("k" + i % 10, value)));
        expected.put("k" + i % 10, value);
      }
    }
    List<Long> left = LogSegments.list(logIn(live()));
    assertTrue(left.getLast() > 200, "last segment " + left.getLast());
    // The current one, the next, and those kept for use again.
    assertTrue(left.size() <= 8, left.size() + " segments");
    assertEquals(expected, contentOf(live()));
  }

  /// Records that were promised room are written on a full disk, in any order and groups. Records for which the disk has no room are
  /// refused before.
  @Test
  void shouldWriteOnAFullDiskWhatWasPromisedRoom() throws IOException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int run = 0; run < 20; run++) {
      Path home = Files.createDirectories(directory.resolve("run-" + run));
      Map<String, String> expected = new TreeMap<>();
      try (SegmentedLog log = open(home, run % 2 == 0 ? NEVER : 4 * SEGMENT_BYTES)) {
        for (int round = 0; round < 4; round++) {
          List<LogRecord> promised = new ArrayList<>();
          for (int i = 0; i < 12; i++) {
            // Short ones at the ends of segments, and some that reach over several.
            int length = random.nextInt(random.nextInt(4) == 0 ? 3 * SEGMENT_BYTES : 300);
            String key = round + "-" + i;
            LogRecord record = put(key, "v".repeat(length));
            disk.full.set(i >= 8);
            try {
              log.reserve(record.length(), 0);
            } catch (EngineException full) {
              assertEquals(ErrorCode.DISK_FULL, full.code());
              assertTrue(i >= 8, "refused with room on the disk");
              continue;
            }
            promised.add(record);
            expected.put(key, "v".repeat(length));
          }
          disk.full.set(true);
          while (!promised.isEmpty()) {
            List<LogRecord> group = promised.subList(0, 1 + random.nextInt(promised.size()));
            log.write(List.copyOf(group));
            group.clear();
          }
          disk.full.set(false);
        }
      }
      assertEquals(expected, contentOf(home), "run " + run);
    }
  }

  @Test
  void shouldReportAFullDiskAndGoOnWhenThereIsRoomAgain() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      disk.writeError.set("No space left on device");
      List<LogRecord> group = List.of(put("a", "second"), put("b", "y".repeat(3 * SEGMENT_BYTES)));
      EngineException full = assertThrows(EngineException.class, () -> log.write(group));
      assertEquals(ErrorCode.DISK_FULL, full.code());
      disk.writeError.set(null);
      Path before = crashed("before");
      assertEquals(Map.of("a", "first"), contentOf(before));
      log.write(group);
      log.write(List.of(put("c", "third")));
      assertEquals(
          Map.of("a", "second", "b", "y".repeat(3 * SEGMENT_BYTES), "c", "third"),
          contentOf(crashed("after")));
    }
  }

  @Test
  void shouldNotReturnFromAWriteThatCouldNotBeSynchronised() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      disk.forceError.set("Input/output error");
      List<LogRecord> group = List.of(put("a", "second"));
      EngineException failed = assertThrows(EngineException.class, () -> log.write(group));
      assertEquals(ErrorCode.IO_ERROR, failed.code());
      assertTrue(String.valueOf(failed.getMessage()).contains("Input/output error"));
      assertTrue(
          String.valueOf(failed.getMessage()).contains("log at " + log.status().position() + ": "));
      // The kernel may have dropped what it could not write: the next try has to bring it again.
      Path file = segment(live(), 0);
      overwrite(file, find(file, "second"), new byte[6]);
      disk.forceError.set(null);
      log.write(group);
      assertEquals(Map.of("a", "second"), contentOf(crashed("copy")));
    }
  }

  @Test
  void shouldSynchroniseOnceForAllRecordsOfAWrite() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      int before = disk.forces.get();
      log.write(List.of(put("b", "1"), put("c", "2"), put("d", "3")));
      assertEquals(before + 1, disk.forces.get());
    }
  }

  @Test
  void shouldSurviveAnInterruptOfItsCaller() throws IOException {
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("a", "first")));
      Thread.currentThread().interrupt();
      log.write(List.of(put("a", "second")));
      assertTrue(Thread.interrupted());
      log.write(List.of(put("b", "third")));
      assertFalse(Thread.interrupted());
      assertEquals(Map.of("a", "second", "b", "third"), contentOf(crashed("copy")));
    }
  }

  @Test
  void shouldTakeOverAnImageThatHadALogOfItsOwn() throws Exception {
    RocksLibrary.load();
    try (Options options = new Options().setCreateIfMissing(true);
        WriteOptions synced = new WriteOptions().setSync(true);
        RocksDB old = RocksDB.open(options, live().resolve("rows").toString())) {
      putOld(old, synced);
      assertEquals(Map.of("old", "row"), contentOf(crashed("copy")));
    }
    try (SegmentedLog log = open(live(), NEVER)) {
      log.write(List.of(put("new", "row")));
      assertEquals(Map.of("old", "row", "new", "row"), contentOf(crashed("both")));
    }
  }

  private static void putOld(RocksDB old, WriteOptions synced) throws RocksDBException {
    old.put(synced, bytes("old"), bytes("row"));
  }

  @Test
  void shouldApplyLongRecordInPiecesInItsOrder() throws IOException {
    int million = 1_000_000;
    LogRecord before = put("gone", "1");
    before.put(bytes("range-1"), bytes("1"));
    LogRecord record = new LogRecord(16);
    record.put(bytes("early"), bytes("1"));
    record.deleteRange(bytes("range"), bytes("rangf"));
    for (int i = 0; i < 5; i++) {
      record.put(bytes("part-" + i), bytes(Integer.toString(i).repeat(6 * million)));
    }
    record.put(bytes("range-2"), bytes("2"));
    record.put(bytes("long"), bytes("l".repeat(18 * million)));
    record.put(bytes("long"), bytes("L".repeat(17 * million)));
    record.delete(bytes("early"), bytes("early").length);
    record.delete(bytes("gone"), bytes("gone").length);
    record.put(bytes("late"), bytes("1"));
    Path home = live();
    SegmentedLog.Options options =
        new SegmentedLog.Options(1 << 20, 1 << 20, 64 << 20, LogFile::open);
    for (int open = 0; open < 2; open++) {
      try (SegmentedLog log = SegmentedLog.open(logIn(home), home.resolve("rows"), options)) {
        if (open == 0) {
          log.write(List.of(before));
          log.write(List.of(record));
          continue;
        }
        Map<String, String> content = content(log);
        assertEquals(
            "[late, long, part-0, part-1, part-2, part-3, part-4, range-2]",
            content.keySet().toString());
        for (int i = 0; i < 5; i++) {
          assertEquals(Integer.toString(i).repeat(6 * million), content.get("part-" + i));
        }
        assertEquals("L".repeat(17 * million), content.get("long"));
      }
    }
  }
}
