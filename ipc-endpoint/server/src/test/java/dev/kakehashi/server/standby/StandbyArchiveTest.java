package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A standby that was away for longer than its primary keeps the log, and is brought up from the archive.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class StandbyArchiveTest {
  /// Bytes of a value: forty commits fill a segment of the log.
  private static final int VALUE_BYTES = 100_000;

  /// Rows of one transaction whose changes are longer than a record of the log.
  private static final int MANY_ROWS = 900;

  /// Commits of twice the log that is kept for a standby, and of more segments than there are spare ones.
  private static final int COMMITS = 400;

  private static final String SUMS =
      "select count(*)::text || ' ' || sum(id)::text || ' ' || sum(length(v))::text from entry";

  private StandbyPair pair;
  private long nextId = 1;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    Files.createDirectory(archive());
    pair =
        StandbyPair.open(
            home,
            "archive_location = " + archive(),
            "archive_interval = 100ms",
            "standby_backlog = 16MB");
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key, v text not null)");
    }
    pair.followBackup();
    insert(3);
    pair.awaitStandby();
  }

  @AfterEach
  void stop() throws IOException {
    pair.close();
  }

  private Path archive() {
    return home.resolve("archive");
  }

  private void insert(int commits) {
    try (Session session = pair.primary.attach()) {
      for (int i = 0; i < commits; i++) {
        session.execute(
            "insert into entry values (%d, repeat('x', %d))".formatted(nextId++, VALUE_BYTES));
      }
    }
  }

  private void insertAtOnce() {
    try (Session session = pair.primary.attach()) {
      session.execute(
          "insert into entry select i, repeat('y', %d) from generate_series(%d, %d) i"
              .formatted(VALUE_BYTES, nextId, nextId + MANY_ROWS - 1));
    }
    nextId += MANY_ROWS;
  }

  /// Number of the segment in which the log of an endpoint ends.
  private long segment(EndpointProcess endpoint) {
    return Long.parseLong(pair.position(endpoint).split("/", -1)[1], 16);
  }

  private Path archived(long segment) {
    return archive().resolve("00000001-%016x.log".formatted(segment));
  }

  private Path log() {
    return pair.primary.dataDirectory().resolve("store/log");
  }

  private static List<Path> files(Path directory, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  /// Lets the primary go on without its standby, until its log does not have all that this one lacks.
  ///
  /// @return the segments of which only the archive has what the standby lacks
  private List<Long> leaveBehind() throws IOException {
    long first = segment(pair.standby);
    pair.standby.stop();
    insertAtOnce();
    insert(COMMITS);
    long last = segment(pair.primary);
    Await.until("the archive", () -> Files.exists(archived(last - 1)));
    // Its base image has everything then, and the log gives up what the archive has.
    pair.primary.stop();
    List<Long> missing = new ArrayList<>();
    for (long number = first; number < last; number++) {
      if (Files.notExists(log().resolve("%016x.log".formatted(number)))) {
        missing.add(number);
      }
    }
    assertTrue(missing.size() > 2, () -> "missing: " + missing);
    assertEquals(List.of(), files(log(), ".kept"), "kept for the standby");
    assertEquals(List.of(), files(log(), ".side"), "needed by the primary");
    pair.primary.start();
    return missing;
  }

  private void assertAlike() {
    assertEquals(StandbyPair.column(pair.primary, SUMS), StandbyPair.column(pair.standby, SUMS));
    assertEquals(
        StandbyPair.column(pair.primary, "select id::text from entry order by entry.id"),
        StandbyPair.column(pair.standby, "select id::text from entry order by entry.id"));
  }

  private void awaitRefusal(String why) {
    Await.until(
        "the refusal: " + why, () -> pair.ask(pair.standby, "status").output().contains(why));
  }

  @Test
  void shouldCatchUpFromTheArchiveAndGoOnWithTheLog() throws Exception {
    leaveBehind();
    pair.standby.start();
    // The log grows meanwhile, so that the border between archive and log moves.
    insert(COMMITS / 2);
    pair.awaitStandby();
    assertAlike();
    insert(3);
    insertAtOnce();
    pair.awaitStandby();
    assertAlike();
    pair.standby.stop();
    Command.run("check", pair.standby.dataDirectory().toString()).expect(0, "no problems");
    pair.primary.stop();
    Command.run("archive", "verify", archive().toString()).expect(0, "no problems");
  }

  @Test
  void shouldSayWhichFileOfTheArchiveIsMissingOrDamaged() throws Exception {
    String before = pair.position(pair.standby);
    List<Long> missing = leaveBehind();
    Path segment = archived(missing.get(1));
    Path aside = home.resolve("aside");
    Files.move(segment, aside);
    Path side = files(archive(), ".side").getFirst();
    byte[] wholeSide = Files.readAllBytes(side);
    byte[] damagedSide = wholeSide.clone();
    damagedSide[damagedSide.length / 2] ^= 1;
    Files.write(side, damagedSide);
    pair.standby.start();
    awaitRefusal(
        "standby \\\"second\\\" is at %s, and the log here does not have that any more; file \\\"%s\\\" of the archive is missing"
            .formatted(before, segment));
    assertEquals(before, pair.position(pair.standby));
    assertEquals(
        List.of("3"), StandbyPair.column(pair.standby, "select count(*)::text from entry"));
    // All segments are there, and the first group names the damaged file.
    byte[] damaged = Files.readAllBytes(aside);
    damaged[damaged.length - 100] ^= 1;
    Files.write(segment, damaged);
    awaitRefusal(side.toString());
    pair.ask(pair.standby, "status").expect(0, "what follows cannot be had", "is damaged at byte");
    assertEquals(
        List.of("3"), StandbyPair.column(pair.standby, "select count(*)::text from entry"));
    Files.write(side, wholeSide);
    awaitRefusal("file \\\"%s\\\" of the archive is damaged".formatted(segment));
    pair.ask(pair.standby, "status").expect(0, "what follows cannot be had");
    // The group that it lacks next begins in the segment before.
    assertEquals(missing.get(1) - 1, segment(pair.standby));
    Files.copy(archived(missing.get(1) - 1), segment, StandardCopyOption.REPLACE_EXISTING);
    awaitRefusal("it is the file of another segment or log");
    insert(3);
    // With the file that it was it goes on.
    Files.move(aside, segment, StandardCopyOption.REPLACE_EXISTING);
    pair.awaitStandby();
    assertAlike();
  }
}
