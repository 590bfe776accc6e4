package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// An old primary that becomes the standby of the new one.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(240)
class StandbyRejoinTest {
  private static final String IDS = "select id::text from entry order by entry.id";

  private StandbyPair pair;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    pair = StandbyPair.open(home);
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key)");
      session.execute("create queue jobs");
    }
    pair.followBackup();
    insert(pair.primary, 1, 5);
    pair.awaitStandby();
  }

  @AfterEach
  void stop() throws IOException {
    pair.close();
  }

  /// Each is a commit of its own.
  private static void insert(EndpointProcess endpoint, long from, long to) {
    try (Session session = endpoint.attach()) {
      for (long id = from; id <= to; id++) {
        session.execute("insert into entry values (%d)".formatted(id));
      }
    }
  }

  private static List<String> ids(long... ranges) {
    LongStream all = LongStream.empty();
    for (int i = 0; i < ranges.length; i += 2) {
      all = LongStream.concat(all, LongStream.rangeClosed(ranges[i], ranges[i + 1]));
    }
    return all.mapToObj(Long::toString).toList();
  }

  private static void check(EndpointProcess endpoint) {
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
  }

  @Test
  void shouldSwitchOverAndBack() throws Exception {
    EndpointProcess first = pair.primary;
    EndpointProcess second = pair.standby;
    first.kill();
    pair.ask(first, "rejoin").expect(1, "has not left the log of");
    pair.ask(second, "promote").expect(0, "promoted; the log goes on at 2/");
    insert(second, 6, 10);
    pair.ask(first, "rejoin").expect(0, "has left the log of", "goes on from 2/", "rejoined at 2/");
    check(first);
    pair.ask(first, "rejoin").expect(0, "already");
    first.start();
    pair.await(first, second);
    assertEquals(ids(1, 10), StandbyPair.column(first, IDS));
    insert(second, 11, 12);
    pair.await(first, second);
    second.kill();
    pair.ask(first, "promote").expect(0, "promoted; the log goes on at 3/");
    insert(first, 13, 15);
    pair.ask(second, "rejoin").expect(0, "rejoined at 3/");
    second.start();
    pair.await(second, first);
    assertEquals(ids(1, 15), StandbyPair.column(second, IDS));
    second.stop();
    check(second);
    first.stop();
    check(first);
  }

  /// The standby has gone before the last commits of the primary, which is killed then.
  private void part() throws Exception {
    pair.standby.kill();
    insert(pair.primary, 100, 109);
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    pair.standby.start();
    insert(pair.standby, 6, 10);
  }

  @Test
  void shouldThrowAwayWhatTheNewPrimaryNeverHadWhenTold() throws Exception {
    part();
    pair.ask(pair.primary, "rejoin")
        .expect(
            1,
            "are 10 commits in 10 groups",
            "that it never had",
            "nothing is changed",
            "--discard");
    // It is as it was.
    check(pair.primary);
    assertFalse(Files.exists(pair.primary.dataDirectory().resolve("standby")));
    pair.ask(pair.primary, "rejoin", "--discard")
        .expect(0, "are 10 commits in 10 groups", "a copy of their log is in", "rejoined at 2/");
    try (var kept = Files.list(pair.primary.dataDirectory())) {
      assertTrue(kept.anyMatch(file -> file.getFileName().toString().startsWith("discarded-1-")));
    }
    check(pair.primary);
    pair.primary.start();
    pair.await(pair.primary, pair.standby);
    assertEquals(ids(1, 10), StandbyPair.column(pair.primary, IDS));
    insert(pair.standby, 11, 11);
    pair.await(pair.primary, pair.standby);
    // As a primary it has the new history alone.
    pair.standby.kill();
    pair.ask(pair.primary, "promote").expect(0, "promoted; the log goes on at 3/");
    assertEquals(ids(1, 11), StandbyPair.column(pair.primary, IDS));
    pair.primary.stop();
    check(pair.primary);
  }

  @Test
  void shouldSayWhenThereIsNoWayBack() throws Exception {
    part();
    // Nobody says that it has been left: a start serves, and brings its commits into the base
    // image.
    pair.standby.stop();
    pair.primary.start();
    pair.primary.stop();
    pair.standby.start();
    pair.ask(pair.primary, "rejoin", "--discard")
        .expect(1, "the base image has commits up to", "kakehashi standby init");
    check(pair.primary);
    assertFalse(Files.exists(pair.primary.dataDirectory().resolve("standby")));
    assertEquals(ids(1, 10), StandbyPair.column(pair.standby, IDS));
  }

  /// A start would take over what is behind the fork.
  @Test
  void shouldStartNothingWhereARejoinWasInterrupted() throws Exception {
    part();
    Path data = pair.primary.dataDirectory();
    DirectoryMark.REJOIN.set(data);
    DirectoryMark.STANDBY.set(data);
    pair.ask(pair.primary, "start").expect(1, "\"kakehashi rejoin\" again");
    pair.ask(pair.primary, "promote").expect(1, "\"kakehashi rejoin\" again");
    pair.ask(pair.primary, "rejoin", "--discard").expect(0, "rejoined at 2/");
    assertFalse(DirectoryMark.REJOIN.isSet(data));
    pair.primary.start();
    pair.await(pair.primary, pair.standby);
    assertEquals(ids(1, 10), StandbyPair.column(pair.primary, IDS));
  }

  @Test
  void shouldNotTakeBackWhatQueuesHaveAlready() throws Exception {
    pair.standby.kill();
    try (Session session = pair.primary.attach()) {
      session.execute("select enqueue('jobs', 'lost'::bytea)");
    }
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    pair.standby.start();
    pair.ask(pair.primary, "rejoin", "--discard")
        .expect(1, "changes of queues among them", "kakehashi standby init");
    check(pair.primary);
    // Nobody to follow: nothing is changed.
    pair.standby.kill();
    assertEquals(1, pair.ask(pair.primary, "rejoin", "--discard").exitCode());
    check(pair.primary);
  }
}
