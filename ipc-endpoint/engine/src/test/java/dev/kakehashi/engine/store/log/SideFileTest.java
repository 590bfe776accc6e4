package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Changes beside the log are as much a part of it as those in it: they come in the order of the records, survive with them, and damage is
/// found.
@Timeout(60)
final class SideFileTest {
  /// Letters before `q`: that one is the key of changes of queues, which the image does not get.
  private static final int KEYS = 16;

  private static final int SEGMENT_BYTES = 8 << 10;
  private static final long NEVER = Long.MAX_VALUE;

  @TempDir Path home;
  private final FaultyFile.Disk disk = new FaultyFile.Disk();

  private SegmentedLog open(long checkpointBytes) {
    return SegmentedLog.open(
        home.resolve("log"),
        home.resolve("rows"),
        new SegmentedLog.Options(SEGMENT_BYTES, checkpointBytes, checkpointBytes, disk::open));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// A record with changes beside it: `key=value`, or `key` alone for a delete, in order.
  private static LogRecord beside(SegmentedLog log, String... changes) {
    LogRecord record = new LogRecord(64);
    try (SideFileWriter file = log.newSideFile()) {
      for (String change : changes) {
        LogRecord piece = new LogRecord(16);
        add(piece, change);
        file.append(piece);
      }
      file.finish(record);
    }
    return record;
  }

  private static void add(LogRecord to, String change) {
    int equals = change.indexOf('=');
    if (equals < 0) {
      to.delete(bytes(change), change.length());
    } else {
      to.put(bytes(change.substring(0, equals)), bytes(change.substring(equals + 1)));
    }
  }

  private static LogRecord in(String... changes) {
    LogRecord record = new LogRecord(64);
    for (String change : changes) {
      add(record, change);
    }
    return record;
  }

  private static String content(DurableLog log) {
    StringBuilder found = new StringBuilder();
    log.scan(
        bytes("a"),
        bytes("zz"),
        (key, value) ->
            found
                .append(StandardCharsets.UTF_8.decode(key))
                .append('=')
                .append(StandardCharsets.UTF_8.decode(value))
                .append(' '));
    return found.toString().strip();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> found = Files.list(home.resolve("log"))) {
      return found.filter(file -> file.toString().endsWith(".side")).sorted().toList();
    }
  }

  /// Copies the directory as a crash of the process leaves it that has it open. The segment that is being made ahead is left out: it gets
  /// its name meanwhile, and no group needs it.
  private void crash(Path to) throws IOException {
    try (Stream<Path> found = Files.walk(home)) {
      for (Path from :
          found
              .filter(each -> !each.startsWith(to) && !each.endsWith(LogSegments.FRESH))
              .toList()) {
        Path target = to.resolve(home.relativize(from));
        if (Files.isDirectory(from)) {
          Files.createDirectories(target);
        } else if (!from.endsWith("LOCK")) {
          Files.copy(from, target);
        }
      }
    }
  }

  @Test
  void shouldApplyChangesInTheOrderOfTheRecords(@TempDir Path copy) throws IOException {
    String expected = "a=3 c=2 d=4 f=6";
    try (SegmentedLog log = open(NEVER)) {
      log.write(List.of(in("a=1", "b=1", "e=1")));
      LogRecord second = beside(log, "b=2", "c=2", "d=2");
      add(second, "b");
      log.write(List.of(second, in("a=3")));
      log.write(List.of(beside(log, "d=4", "e", "f=4"), in("f=6")));
      crash(copy);
      try (OfflineLog offline = OfflineLog.open(copy.resolve("log"), copy.resolve("rows"))) {
        assertEquals(expected, content(offline));
        assertEquals("d", last(offline, "a", "e"));
        assertEquals("c", last(offline, "a", "d"));
        assertEquals("f", last(offline, "a", "z"));
        assertEquals("", last(offline, "e", "f"));
      }
    }
    // A clean end has applied all; what a crash has left is applied when it is opened.
    assertEquals(List.of(), files());
    try (SegmentedLog log = open(NEVER)) {
      assertEquals(expected, content(log));
    }
    try (SegmentedLog log = SegmentedLog.open(copy.resolve("log"), copy.resolve("rows"))) {
      assertEquals(expected, content(log));
    }
  }

  private static String last(DurableLog log, String from, String to) {
    return log.lastKey(bytes(from), bytes(to))
        .map(key -> new String(key, StandardCharsets.UTF_8))
        .orElse("");
  }

  @Test
  void shouldReadLayersOfTheCheckAsTheImageHasThem(@TempDir Path copy) throws IOException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("SideFileTest seed " + seed);
    Random random = new Random(seed);
    TreeMap<String, String> expected = new TreeMap<>();
    try (SegmentedLog log = open(NEVER)) {
      for (int i = 0; i < 60; i++) {
        TreeMap<String, String> changes = new TreeMap<>();
        for (int k = random.nextInt(12); k >= 0; k--) {
          String key = "" + (char) ('a' + random.nextInt(KEYS));
          changes.put(key, random.nextInt(3) == 0 ? key : key + "=" + i);
        }
        String[] encoded = changes.values().toArray(String[]::new);
        LogRecord record = random.nextBoolean() ? beside(log, encoded) : in(encoded);
        changes.forEach((key, change) -> {
          if (change.equals(key)) {
            expected.remove(key);
          } else {
            expected.put(key, change);
          }
        });
        if (random.nextInt(5) == 0) {
          String from = "" + (char) ('a' + random.nextInt(KEYS));
          String to = "" + (char) (from.charAt(0) + random.nextInt(5) + 1);
          record.deleteRange(bytes(from), bytes(to));
          expected.subMap(from, to).clear();
        }
        log.write(List.of(record));
      }
      crash(copy);
    }
    try (OfflineLog offline = OfflineLog.open(copy.resolve("log"), copy.resolve("rows"));
        SegmentedLog live = open(NEVER)) {
      assertEquals(String.join(" ", expected.values()), content(live));
      assertEquals(String.join(" ", expected.values()), content(offline));
      for (char from = 'a'; from < 'u'; from++) {
        for (char to = (char) (from + 1); to <= 'u'; to++) {
          assertEquals(last(live, "" + from, "" + to), last(offline, "" + from, "" + to));
        }
      }
    }
  }

  @Test
  void shouldRemoveAFileWhenTheImageHasItsChangesForGood() throws Exception {
    try (SegmentedLog log = open(1)) {
      log.write(List.of(beside(log, "a=1", "b=" + "x".repeat(1000))));
      long deadline = System.nanoTime() + 30_000_000_000L;
      while (!files().isEmpty() && System.nanoTime() < deadline) {
        Thread.onSpinWait();
      }
      assertEquals(List.of(), files());
    }
  }

  @Test
  void shouldSweepWhatNoRecordNames(@TempDir Path copy) throws IOException {
    try (SegmentedLog log = open(NEVER)) {
      LogRecord forgotten = beside(log, "a=1");
      log.forget(forgotten);
      assertEquals(List.of(), files());
      try (SideFileWriter unfinished = log.newSideFile()) {
        unfinished.append(in("b=1"));
      }
      assertEquals(List.of(), files());
      beside(log, "c=1");
      log.write(List.of(beside(log, "d=1")));
      assertEquals(2, files().size());
      crash(copy);
    }
    try (SegmentedLog log =
        SegmentedLog.open(
            copy.resolve("log"),
            copy.resolve("rows"),
            new SegmentedLog.Options(SEGMENT_BYTES, NEVER, NEVER, disk::open))) {
      assertEquals("d=1", content(log));
      try (Stream<Path> found = Files.list(copy.resolve("log"))) {
        assertEquals(
            1, found.filter(file -> file.toString().endsWith(".side")).count(), "d's until then");
      }
    }
  }

  @Test
  void shouldRefuseADamagedShortOrMissingFile() throws IOException {
    Path copies = Files.createTempDirectory(home.getParent(), "copies");
    int copy = 0;
    try (SegmentedLog log = open(NEVER)) {
      log.write(List.of(beside(log, "a=1", "b=2", "c=" + "x".repeat(100))));
      byte[] whole = Files.readAllBytes(files().getFirst());
      String name = files().getFirst().getFileName().toString();
      List<byte[]> damaged = new ArrayList<>();
      for (int at = 0; at < whole.length; at++) {
        byte[] bytes = whole.clone();
        bytes[at] ^= 1;
        damaged.add(bytes);
      }
      damaged.add(Arrays.copyOf(whole, whole.length - 1));
      damaged.add(Arrays.copyOf(whole, whole.length + 1));
      damaged.add(new byte[0]);
      SideFiles files = new SideFiles(home.resolve("log"), logId(log), LogFile::openReadOnly);
      SideFile file = SideFile.of(nameOf(beside(log, "a=1")), 0, 28);
      assertTrue(file.number() > 1);
      Path last = files.path(file.number());
      byte[] other = Files.readAllBytes(last);
      for (int at = 0; at < other.length; at++) {
        byte[] bytes = other.clone();
        bytes[at] ^= 1;
        Files.write(last, bytes);
        EngineException refused =
            assertThrows(
                EngineException.class, () -> files.read(file, (place, changes) -> {}), "" + at);
        assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
      }
      for (byte[] bytes : List.of(damaged.get(0), damaged.get(60), damaged.getLast())) {
        Path target = copies.resolve("" + copy++);
        crash(target);
        Files.write(target.resolve("log").resolve(name), bytes);
        assertRefused(target);
      }
      Path target = copies.resolve("" + copy);
      crash(target);
      Files.delete(target.resolve("log").resolve(name));
      assertRefused(target);
    }
  }

  private static long logId(SegmentedLog log) {
    byte[][] position = new byte[1][];
    log.read(new byte[] {0}, new byte[] {1}, (key, value) -> position[0] = value.toArray());
    return java.nio.ByteBuffer.wrap(position[0]).getLong(8);
  }

  private static byte[] nameOf(LogRecord record) {
    return Optional.ofNullable(record.sideFile()).orElseThrow().name();
  }

  private static void assertRefused(Path directory) {
    for (boolean offline : new boolean[] {true, false}) {
      EngineException refused =
          assertThrows(
              EngineException.class,
              () -> {
                Path log = directory.resolve("log");
                Path rows = directory.resolve("rows");
                (offline ? OfflineLog.open(log, rows) : SegmentedLog.open(log, rows)).close();
              });
      assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
      assertTrue(String.valueOf(refused.getMessage()).contains(".side"), refused.getMessage());
    }
  }

  @Test
  void shouldLeaveNothingWhereTheDiskIsFull() throws IOException {
    try (SegmentedLog log = open(NEVER)) {
      log.write(List.of(in("a=1")));
      disk.full.set(true);
      assertEquals(
          ErrorCode.DISK_FULL,
          assertThrows(EngineException.class, () -> beside(log, "b=1")).code());
      disk.full.set(false);
      disk.forceError.set("No space left on device");
      assertEquals(
          ErrorCode.DISK_FULL,
          assertThrows(EngineException.class, () -> beside(log, "b=1")).code());
      disk.forceError.set(null);
      assertEquals(List.of(), files());
      log.write(List.of(beside(log, "c=1")));
      assertEquals(1, files().size());
    }
    try (SegmentedLog log = open(NEVER)) {
      assertEquals("a=1 c=1", content(log));
    }
  }

  @Test
  void shouldBeInABackup(@TempDir Path restored) throws IOException {
    try (SegmentedLog log = open(NEVER)) {
      log.write(List.of(beside(log, "a=1", "b=1")));
      try (dev.kakehashi.engine.api.Backup backup = log.backup(home.resolve("workspace"))) {
        log.write(List.of(beside(log, "c=1")));
        for (dev.kakehashi.engine.api.Backup.File file : backup.files()) {
          Path target = restored.resolve(file.name());
          Files.createDirectories(target.getParent());
          byte[] bytes = Files.readAllBytes(file.source());
          Files.write(target, Arrays.copyOf(bytes, (int) file.bytes()));
        }
      }
    }
    try (SegmentedLog log = SegmentedLog.open(restored.resolve("log"), restored.resolve("rows"))) {
      assertEquals("a=1 b=1", content(log));
    }
  }
}
