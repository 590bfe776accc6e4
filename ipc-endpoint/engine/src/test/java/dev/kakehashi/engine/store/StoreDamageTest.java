package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.engine.testing.KilledProcess;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Each file of a directory that a kill has left is damaged in each way that happens to files: then either all rows are there, or opening
/// it and checking it say that it is damaged. That holds for the last commit, too, because a kill leaves the mark of the log's end exact.
final class StoreDamageTest {
  private static final int ROWS = 70;

  /// Rows of an older copy of the directory.
  private static final int OLDER_ROWS = 60;

  private static final int TEXT_BYTES = 10_000;

  private static final String TABLE = "table";

  @TempDir Path home;

  private enum Damage {
    FLIPPED_FIRST,
    FLIPPED_HEADER,
    FLIPPED_FRAME,
    FLIPPED_MIDDLE,
    FLIPPED_ANYWHERE,
    FLIPPED_LAST,
    EMPTIED,
    HALVED,
    SHORTENED,
    DELETED,
    OLDER
  }

  @Test
  @Timeout(600)
  void shouldFindEachDamageOrHaveAllRows() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreDamageTest seed " + seed);
    Random random = new Random(seed);
    Path killed = home.resolve("killed");
    fill(killed, 0, OLDER_ROWS);
    Path older = home.resolve("older");
    copy(killed, older);
    fill(killed, OLDER_ROWS, ROWS);
    int refused = 0;
    int harmless = 0;
    for (Path file : files(killed)) {
      for (Damage damage : Damage.values()) {
        Path copy = home.resolve("copy");
        Directories.delete(copy);
        copy(killed, copy);
        long at = offset(damage, Files.size(killed.resolve(file)), random);
        if (!damage(damage, copy.resolve(file), older.resolve(file), at)) {
          continue;
        }
        String what = "%s of %s at %d, seed %d".formatted(damage, file, at, seed);
        if (isRefused(copy, what)) {
          refused++;
        } else {
          harmless++;
        }
      }
    }
    System.out.println(refused + " refused, " + harmless + " without harm");
    assertTrue(refused > 20, refused + " refused");
  }

  @Test
  void shouldRefuseADirectoryThatHasLostALargePart() throws Exception {
    Path killed = home.resolve("killed");
    // So little that the image has nothing of it yet.
    fill(killed, 0, 3);
    for (List<String> lost :
        List.of(
            List.of("log"), List.of("rows"), List.of("rows", "FORMAT"), List.of("rows", "log"))) {
      Path copy = home.resolve("copy");
      Directories.delete(copy);
      copy(killed, copy);
      for (String part : lost) {
        Directories.delete(copy.resolve(part));
      }
      assertTrue(isRefused(copy, "without " + lost));
    }
  }

  @Test
  void shouldTellDamageToTheLastCommitFromAWriteThatWasCutOff() throws Exception {
    Path killed = home.resolve("killed");
    fill(killed, 0, 3);
    Path segment = segment(killed);
    flip(segment, find(segment, text(2)), 1);
    refuse(killed, "segment \"" + segment + "\" is damaged, or an older copy");
    // As after power loss, where the mark of the end may be behind; and as the hint says.
    Files.delete(end(killed));
    CheckReport report = CheckReport.of(killed);
    report.assertSound();
    assertTrue(
        report.checked.stream().anyMatch(line -> line.contains("ends before a write")),
        report.checked.toString());
    assertEquals(List.of(0L, 1L), ids(killed));
  }

  @Test
  void shouldRefuseAnOlderCopyOfTheOnlySegmentAfterAKill() throws Exception {
    Path directory = home.resolve("killed");
    fill(directory, 0, 2);
    Path older = home.resolve("older");
    copy(directory, older);
    fill(directory, 2, 4);
    replace(segment(older), segment(directory));
    refuse(directory, "segment \"" + segment(directory) + "\" is damaged, or an older copy");
  }

  @Test
  void shouldRefuseAnOlderCopyOfTheLogAfterACleanEnd() throws Exception {
    Path directory = home.resolve("closed");
    addAndClose(directory, 0, 2);
    Path older = home.resolve("older");
    copy(directory, older);
    addAndClose(directory, 2, 4);
    Path alone = home.resolve("alone");
    copy(directory, alone);
    // With its mark, so that the image alone knows of more.
    replace(segment(older), segment(directory));
    replace(end(older), end(directory));
    refuse(directory, "the base image was made of it up to byte");
    replace(segment(older), segment(alone));
    refuse(alone, "the base image was made of it up to byte");
  }

  @Test
  void shouldRefuseTheLogOfAnotherDirectoryAndADamagedMark() throws Exception {
    Path directory = home.resolve("closed");
    addAndClose(directory, 0, 2);
    Path other = home.resolve("other");
    addAndClose(other, 0, 2);
    Path mark = end(directory);
    byte[] own = Files.readAllBytes(mark);
    replace(end(other), mark);
    refuse(directory, "belong to another log than \"" + mark + "\"");
    Files.write(mark, Arrays.copyOf(own, 20));
    refuse(directory, "\"" + mark + "\", which says where the log ends, is damaged");
    Files.write(mark, own);
    assertEquals(List.of(0L, 1L), ids(directory));
  }

  @Test
  void shouldTakeADirectoryWithoutMarkAndMakeOne() throws Exception {
    Path directory = home.resolve("closed");
    addAndClose(directory, 0, 2);
    Files.delete(end(directory));
    CheckReport.of(directory).assertSound();
    assertEquals(List.of(0L, 1L), ids(directory));
    assertTrue(Files.exists(end(directory)));
  }

  private static Path segment(Path directory) {
    return DataDirectory.log(directory).resolve("0000000000000000.log");
  }

  private static Path end(Path directory) {
    return directory.resolve("log.end");
  }

  private static void replace(Path source, Path target) throws IOException {
    Files.copy(source, target, StandardCopyOption.REPLACE_EXISTING);
  }

  /// The check and a start say the same, and the start leaves the files as they are.
  private static void refuse(Path directory, String reason) throws IOException {
    CheckReport report = CheckReport.of(directory);
    assertTrue(
        report.problems.stream().anyMatch(line -> line.contains(reason)),
        report.problems.toString());
    byte[] log = Files.readAllBytes(segment(directory));
    EngineException refused = assertThrows(EngineException.class, () -> ids(directory));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    assertTrue(String.valueOf(refused.getMessage()).contains(reason), refused.toString());
    assertArrayEquals(log, Files.readAllBytes(segment(directory)));
  }

  /// A process fills a directory and is killed.
  private static void fill(Path directory, int from, int to) throws Exception {
    KilledProcess.run(
        Filler.class, to - from, directory.toString(), String.valueOf(from), String.valueOf(to));
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).map(directory::relativize).sorted().toList();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    for (Path file : files(from)) {
      Path target = to.resolve(file);
      Files.createDirectories(target.getParent());
      Files.copy(from.resolve(file), target);
    }
  }

  private static long offset(Damage damage, long bytes, Random random) {
    long at =
        switch (damage) {
          case FLIPPED_HEADER -> 18;
          case FLIPPED_FRAME -> 4096 + 6;
          case FLIPPED_MIDDLE, HALVED -> bytes / 2;
          case FLIPPED_ANYWHERE -> bytes == 0 ? 0 : random.nextLong(bytes);
          case FLIPPED_LAST, SHORTENED -> bytes - 1;
          default -> 0;
        };
    return Math.max(0, Math.min(at, bytes - 1));
  }

  /// @return false if that cannot be done to the file
  private static boolean damage(Damage damage, Path file, Path older, long at) throws IOException {
    if (Files.size(file) == 0 && damage != Damage.DELETED && damage != Damage.OLDER) {
      return false;
    }
    switch (damage) {
      case EMPTIED, HALVED, SHORTENED -> {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
          bytes.setLength(at);
        }
      }
      case DELETED -> Files.delete(file);
      case OLDER -> {
        if (Files.notExists(older) || Files.mismatch(older, file) < 0) {
          return false;
        }
        Files.copy(older, file, StandardCopyOption.REPLACE_EXISTING);
      }
      default -> flip(file, at, 1 << (at & 7));
    }
    return true;
  }

  private static void flip(Path file, long at, int bits) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int value = bytes.read();
      bytes.seek(at);
      bytes.write(value ^ bits);
    }
  }

  private static int find(Path file, String text) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).indexOf(text);
  }

  private static boolean isRefused(Path copy, String what) {
    // First, because opening may change the directory.
    CheckReport report = new CheckReport();
    try (StoreCheck check = StoreCheck.open(new StoreConfig(copy, 1L << 28), report)) {
      if (check != null) {
        check.definitions();
        check.rows(id -> "table " + id, java.util.Set.of(), store -> List.of());
      }
    } catch (EngineException e) {
      report.problem(String.valueOf(e.getMessage()));
    }
    List<Long> found;
    try {
      found = ids(copy);
    } catch (EngineException e) {
      assertEquals(ErrorCode.DATA_CORRUPTED, e.code(), what + ": " + e);
      assertTrue(String.valueOf(e.getMessage()).contains(copy.toString()), what + ": " + e);
      assertFalse(report.problems.isEmpty(), what + ": the check passes, and: " + e);
      return true;
    }
    List<Long> all = LongStream.range(0, ROWS).boxed().toList();
    assertEquals(all, found, what);
    return !report.problems.isEmpty();
  }

  /// Opens a directory as an endpoint does, and reads all rows.
  private static List<Long> ids(Path directory) {
    try (Store store = open(directory)) {
      byte[] table = store.catalog().get(TABLE);
      List<Long> ids = new ArrayList<>();
      if (table == null) {
        return ids;
      }
      StoreTransaction reader = store.begin(true, false);
      for (Rows.Row row : Rows.scan(tableOf(store), reader.beginStatement())) {
        long id = (Long) row.values().getFirst();
        assertEquals(text(id), row.values().get(1));
        ids.add(id);
      }
      reader.abort();
      ids.sort(null);
      return ids;
    }
  }

  private static TableStore tableOf(Store store) {
    byte[] id = store.catalog().get(TABLE);
    return store.table(Long.parseLong(new String(id, StandardCharsets.US_ASCII)));
  }

  /// A text of letters that no compression makes much shorter.
  private static String text(long id) {
    byte[] letters = new byte[id == ROWS - 1 ? 20 : TEXT_BYTES];
    Random random = new Random(id);
    for (int i = 0; i < letters.length; i++) {
      letters[i] = (byte) ('!' + random.nextInt(90));
    }
    return new String(letters, StandardCharsets.US_ASCII);
  }

  /// The process that is killed.
  static final class Filler {
    private Filler() {}

    public static void main(String[] arguments) throws InterruptedException {
      add(
          open(Path.of(arguments[0])),
          Long.parseLong(arguments[1]),
          Long.parseLong(arguments[2]),
          KilledProcess::acknowledge);
      KilledProcess.awaitKill();
    }
  }

  private static Store open(Path directory) {
    return MemoryStore.open(new StoreConfig(directory, 1L << 28), SmallLog::open);
  }

  private static void addAndClose(Path directory, long from, long to) {
    try (Store store = open(directory)) {
      add(store, from, to, id -> {});
    }
  }

  private static void add(Store store, long from, long to, LongConsumer whenCommitted) {
    if (from == 0) {
      long id = store.nextObjectId();
      IndexDefinition key =
          new IndexDefinition(store.nextObjectId(), "key", List.of(0), List.of(false), true);
      TableDefinition definition =
          new TableDefinition(
              id,
              List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
              List.of(true, true),
              List.of(key));
      CatalogTool.change(
          store,
          Arrays.asList(
              new CatalogChange.CreateTable(definition),
              new CatalogChange.Put(
                  TABLE, String.valueOf(id).getBytes(StandardCharsets.US_ASCII))));
    }
    for (long id = from; id < to; id++) {
      StoreTransaction transaction = store.begin(false, false);
      transaction.beginStatement();
      Rows.insert(tableOf(store), transaction, id, text(id));
      Rows.commit(transaction);
      whenCommitted.accept(id);
    }
  }
}
