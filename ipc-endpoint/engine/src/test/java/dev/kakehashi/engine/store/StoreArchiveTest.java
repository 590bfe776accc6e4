package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.queue.StoreQueueHost;
import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.log.ArchiveCheck;
import dev.kakehashi.engine.store.log.ArchiveRestore;
import dev.kakehashi.engine.store.log.SmallLog;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The log is copied to an archive, and a backup is brought on to any moment by it.
@Timeout(300)
final class StoreArchiveTest extends StoreQueuesBase {
  private static final long NEVER = TimeUnit.DAYS.toNanos(1);
  private static final int MOMENTS = Integer.getInteger("kakehashi.archive.moments", 12);

  /// Text of a row whose record goes into a file beside the log.
  private static final int LONG_BYTES = 60_000;

  private long intervalNanos = TimeUnit.MILLISECONDS.toNanos(100);
  private long backlogBytes = 1L << 30;

  /// When what was committed, as its client knows.
  private record Moment(long number, LogPosition position, Instant after) {}

  private Path archive() {
    return directory.resolve("archive");
  }

  @Override
  void open(Path where) {
    try {
      if (Files.notExists(directory.resolve("no archive"))) {
        Files.createDirectories(archive());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ArchiveConfig to = new ArchiveConfig(archive(), intervalNanos, backlogBytes);
    store =
        MemoryStore.open(
            new StoreConfig(where, 1L << 28, ListQueues::new),
            (log, image, queuesOfLog) -> SmallLog.open(log, image, queuesOfLog, to));
    queues = (ListQueues) Objects.requireNonNull(store.queues());
    queues.start(new StoreQueueHost(store), List.of());
  }

  private LogPosition position() {
    return Objects.requireNonNull(store.logStatus()).position();
  }

  private LogStatus.Archive archived() {
    return Objects.requireNonNull(Objects.requireNonNull(store.logStatus()).archive());
  }

  private static void awaitTrue(java.util.function.BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "in time");
      Thread.onSpinWait();
    }
  }

  private Moment commit(long number, int bytes) {
    StoreTransaction transaction = begin();
    insertBoth(transaction, number, "x".repeat(bytes));
    Rows.commit(transaction);
    Moment moment = new Moment(number, position(), now());
    // The next commit is later, for a clock of microseconds.
    awaitTrue(() -> now().isAfter(moment.after()));
    return moment;
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  private Path backup(String name) throws IOException {
    Path target = directory.resolve(name);
    try (Backup backup = store.backup()) {
      for (List<Backup.File> files : List.of(backup.changingFiles(), backup.files())) {
        for (Backup.File file : files) {
          Path place = target.resolve(file.name());
          Files.createDirectories(place.getParent());
          try (var in = Files.newInputStream(file.source())) {
            Files.write(place, in.readNBytes((int) file.bytes()));
          }
        }
        if (files.equals(backup.changingFiles()) && files.isEmpty()) {
          assertFalse(backup.files().isEmpty());
        }
      }
      assertEquals(1, Objects.requireNonNull(backup.position()).timeline());
    }
    return target;
  }

  private static Path copyOf(Path source, Path target) throws IOException {
    Directories.delete(target);
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path place = target.resolve(source.relativize(file).toString());
        Files.createDirectories(place.getParent());
        Files.copy(file, place);
      }
    }
    return target;
  }

  private ArchiveRestore.Result restore(Path backup, ArchiveRestore.Target target)
      throws IOException {
    Path restored = copyOf(backup, directory.resolve("restored"));
    return StoreRestore.run(
        new StoreConfig(restored, 1L << 28, ListQueues::new), archive(), target);
  }

  private static ArchiveRestore.Target to(LogPosition position) {
    return new ArchiveRestore.Target(Long.MAX_VALUE, position);
  }

  private static ArchiveRestore.Target to(Instant time) {
    return new ArchiveRestore.Target(ChronoUnit.MICROS.between(Instant.EPOCH, time), null);
  }

  /// Rows and tasks of the store that was restored last are those up to a number.
  private void assertRestored(long last) {
    reopen(directory.resolve("restored"));
    List<Long> expected = LongStream.rangeClosed(1, last).boxed().toList();
    assertEquals(expected, numbers(rows()));
    assertEquals(expected, numbers(tasks()));
  }

  private static List<Long> numbers(List<String> texts) {
    return texts.stream().map(each -> Long.valueOf(each.replace("x", ""))).sorted().toList();
  }

  private List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(archive())) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  private List<String> problems() throws IOException {
    List<String> problems = new ArrayList<>();
    new ArchiveCheck(archive()).verify(problems::add);
    return problems;
  }

  private String refusal(Path backup, ArchiveRestore.Target target, ErrorCode code) {
    EngineException refused = assertThrows(EngineException.class, () -> restore(backup, target));
    assertEquals(code, refused.code());
    return String.valueOf(refused.getMessage());
  }

  @Test
  void shouldRestoreEveryMomentAsTheClientKnewIt() throws IOException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreArchiveTest seed " + seed);
    Random random = new Random(seed);
    List<Moment> moments = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      moments.add(commit(moments.size() + 1L, random.nextInt(3000)));
    }
    Path base = backup("base");
    int first = moments.size();
    while (files(".log").size() < 12 || moments.size() < 300) {
      boolean isLong = random.nextInt(40) == 0;
      moments.add(commit(moments.size() + 1L, isLong ? LONG_BYTES : random.nextInt(4000)));
      if (moments.size() == 150) {
        reopen(home);
      }
    }
    LogPosition end = position();
    store.close();
    assertEquals(List.of(), problems());
    assertFalse(files(".side").isEmpty(), "large transactions");
    for (int i = 0; i < MOMENTS; i++) {
      Moment moment = moments.get(first + random.nextInt(moments.size() - first - 1));
      ArchiveRestore.Result result =
          restore(base, i % 2 == 0 ? to(moment.position()) : to(moment.after()));
      assertEquals(moment.position(), result.end(), "of commit " + moment.number());
      assertEquals(2, result.begin().timeline());
      assertRestored(moment.number());
      store.close();
      // The restored store has begun a history that nobody needs.
      for (Path file : files("")) {
        if (String.valueOf(file.getFileName()).startsWith("00000002")) {
          Files.delete(file);
        }
      }
    }
    assertEquals(end, restore(base, ArchiveRestore.Target.END).end());
    assertRestored(moments.size());
  }

  @Test
  void shouldGoOnFromARestoredMomentAndKeepBothHistories() throws IOException {
    commit(1, 10);
    Path base = backup("base");
    Moment second = commit(2, 10);
    commit(3, 10);
    store.close();
    restore(base, to(second.position()));
    assertRestored(2);
    LogPosition begin = position();
    assertEquals(2, begin.timeline());
    for (long number = 3; number < 40; number++) {
      commit(number, 4000);
    }
    Moment last = commit(40, 10);
    store.close();
    // Along the new timeline, from a backup of the old one.
    ArchiveRestore.Result result = restore(base, ArchiveRestore.Target.END);
    assertEquals(last.position(), result.end());
    assertEquals(3, result.begin().timeline());
    assertRestored(40);
    store.close();
    // And to the end of the old one.
    assertEquals(1, restore(base, to(second.position())).end().timeline());
    assertRestored(2);
  }

  @Test
  void shouldNameTheFileThatIsMissingOrDamaged() throws IOException {
    commit(1, 10);
    Path base = backup("base");
    for (long number = 2; number < 100; number++) {
      commit(number, 4000);
    }
    store.close();
    List<Path> segments = files(".log");
    assertTrue(segments.size() > 4, "segments");
    Path gone = segments.get(2);
    byte[] bytes = Files.readAllBytes(gone);
    Files.delete(gone);
    String missing = "file \"%s\" of the archive is missing".formatted(gone);
    assertTrue(
        refusal(base, ArchiveRestore.Target.END, ErrorCode.DATA_CORRUPTED).contains(missing));
    assertTrue(problems().getFirst().contains(missing));
    byte[] damaged = bytes.clone();
    damaged[damaged.length / 2] ^= 1;
    Files.write(gone, damaged);
    String damage = "file \"%s\" of the archive is damaged".formatted(gone);
    assertTrue(refusal(base, ArchiveRestore.Target.END, ErrorCode.DATA_CORRUPTED).contains(damage));
    assertTrue(problems().getFirst().contains(damage));
    // Another file whose own checksum holds.
    Files.copy(segments.get(3), gone, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertTrue(refusal(base, ArchiveRestore.Target.END, ErrorCode.DATA_CORRUPTED).contains(damage));
    Files.write(gone, bytes);
    assertEquals(List.of(), problems());
    restore(base, ArchiveRestore.Target.END);
    assertRestored(99);
  }

  @Test
  void shouldRefuseMomentsOutsideOfBackupAndArchive() throws IOException {
    Moment early = commit(1, 10);
    commit(2, 10);
    Path base = backup("base");
    Moment last = commit(3, 10);
    store.close();
    assertTrue(
        refusal(base, to(early.after()), ErrorCode.INVALID_PARAMETER_VALUE).contains("later than"));
    assertTrue(
        refusal(base, to(early.position()), ErrorCode.INVALID_PARAMETER_VALUE)
            .contains("later than"));
    assertTrue(
        refusal(base, to(Instant.now().plusSeconds(60)), ErrorCode.INVALID_PARAMETER_VALUE)
            .contains("ends before"));
    LogPosition beyond =
        new LogPosition(1, last.position().segment() + 1, last.position().offset());
    assertTrue(
        refusal(base, to(beyond), ErrorCode.INVALID_PARAMETER_VALUE).contains("ends before"));
  }

  @Test
  void shouldHaveTheLastCommitWithinTheInterval() {
    commit(1, 10);
    LogPosition end = position();
    awaitTrue(() -> end.equals(archived().position()));
    assertEquals(0, archived().waitingBytes());
  }

  @Test
  void shouldGoOnWithoutTheArchiveAndBringItUpWhenItIsBack() throws IOException {
    commit(1, 10);
    Path base = backup("base");
    store.close();
    Path away = directory.resolve("away");
    Files.move(archive(), away);
    Files.createFile(directory.resolve("no archive"));
    open(home);
    table = store.table(tableId);
    for (long number = 2; number < 100; number++) {
      commit(number, number % 20 == 0 ? LONG_BYTES : 4000);
    }
    awaitTrue(() -> archived().problem().contains("is not there"));
    assertTrue(archived().failures() > 0);
    assertTrue(archived().waitingBytes() > 200_000);
    // Also over a start, which finds what waits.
    reopen(home);
    Files.move(away, archive());
    awaitTrue(() -> position().equals(archived().position()));
    assertEquals("", archived().problem());
    store.close();
    assertEquals(List.of(), problems());
    restore(base, ArchiveRestore.Target.END);
    assertRestored(99);
  }

  @Test
  void shouldGiveUpSegmentsBeyondTheLimitAndRefuseToRestoreOverTheGap() throws IOException {
    commit(1, 10);
    Path base = backup("base");
    store.close();
    Path away = directory.resolve("away");
    Files.move(archive(), away);
    Files.createFile(directory.resolve("no archive"));
    backlogBytes = 256 << 10;
    open(home);
    table = store.table(tableId);
    for (long number = 2; number < 300; number++) {
      commit(number, 4000);
    }
    awaitTrue(() -> archived().gaps() > 0);
    try (Stream<Path> segments = Files.list(home.resolve("log"))) {
      assertTrue(
          segments.filter(file -> file.toString().endsWith(".log")).count() < 20, "segments");
    }
    Files.move(away, archive());
    awaitTrue(() -> position().equals(archived().position()));
    Path later = backup("later");
    commit(300, 10);
    store.close();
    assertNotEquals(List.of(), problems());
    assertTrue(
        refusal(base, ArchiveRestore.Target.END, ErrorCode.DATA_CORRUPTED)
            .contains("of the archive is missing"));
    restore(later, ArchiveRestore.Target.END);
    assertRestored(300);
  }

  @Test
  void shouldRefuseTheArchiveOfAnotherEndpoint() throws IOException {
    commit(1, 10);
    store.close();
    Path other = directory.resolve("other");
    open(other);
    commitOther();
    awaitTrue(() -> archived().problem().contains("belongs to another endpoint"));
  }

  private void commitOther() {
    StoreTransaction transaction = begin();
    transaction.queueChanges().createQueue(QUEUE);
    Rows.commit(transaction);
  }

  @Test
  void shouldRemoveWhatIsOlderAndKeepTheRestUsable() throws IOException {
    commit(1, 10);
    for (long number = 2; number < 60; number++) {
      commit(number, number % 20 == 0 ? LONG_BYTES : 4000);
    }
    Path base = backup("base");
    for (long number = 60; number < 100; number++) {
      commit(number, 4000);
    }
    store.close();
    ArchiveCheck check = new ArchiveCheck(archive());
    assertEquals(0, check.remove(Duration.ofDays(1), name -> {}));
    List<String> removed = new ArrayList<>();
    assertTrue(check.remove(Duration.ZERO, removed::add) > 3);
    assertEquals(List.of(), problems());
    assertEquals(0, files(".log").size() + files(".side").size(), removed::toString);
    assertTrue(
        refusal(base, ArchiveRestore.Target.END, ErrorCode.DATA_CORRUPTED)
            .contains("of the archive is missing"));
  }

  @Test
  void shouldLeaveOnlyWholeFilesWhenItIsKilledAtAnyMoment() throws IOException {
    intervalNanos = NEVER;
    store.close();
    open(home);
    table = store.table(tableId);
    commit(1, 10);
    Path base = backup("base");
    // As a kill leaves them: the file of a writer that did not come to its end, and a note that is
    // older.
    Files.writeString(archive().resolve("00000001-0000000000000001.log.new"), "cut off");
    Path note = home.resolve("log.archived");
    for (long number = 2; number < 60; number++) {
      commit(number, 4000);
    }
    awaitTrue(() -> Files.exists(note));
    byte[] old = Files.readAllBytes(note);
    for (long number = 60; number < 100; number++) {
      commit(number, 4000);
    }
    Path crashed = crashed("crashed");
    Files.write(crashed.resolve("log.archived"), old);
    store.close();
    open(crashed);
    table = store.table(tableId);
    commit(100, 10);
    store.close();
    assertEquals(List.of(), files(".new"));
    assertEquals(List.of(), problems());
    restore(base, ArchiveRestore.Target.END);
    assertRestored(100);
  }
}
