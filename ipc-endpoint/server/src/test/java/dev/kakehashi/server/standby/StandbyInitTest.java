package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A standby that is copied from its running primary.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(240)
class StandbyInitTest {
  private static final int ROWS = 20_000;

  private StandbyPair pair;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    pair = StandbyPair.open(home);
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key, v text)");
      session.execute("create queue jobs");
      session.execute(
          "insert into entry select -i, repeat('x', 100) from generate_series(1, %d) i"
              .formatted(ROWS));
      session.execute("select enqueue('jobs', 'first'::bytea)");
    }
  }

  @AfterEach
  void stop() throws IOException {
    pair.close();
  }

  private String data() {
    return pair.standby.dataDirectory().toString();
  }

  private boolean hasContent() throws IOException {
    try (var files = Files.list(pair.standby.dataDirectory())) {
      return files.anyMatch(file -> !file.getFileName().toString().endsWith(".lock"));
    }
  }

  @Test
  void shouldHaveAllThatClientsCommitMeanwhile() throws Exception {
    AtomicLong last = new AtomicLong();
    AtomicLong stopping = new AtomicLong();
    CompletableFuture<Void> client =
        CompletableFuture.runAsync(() -> {
          try (Session session = pair.primary.attach()) {
            while (stopping.get() == 0) {
              session.execute(
                  "insert into entry values (%d, 'meanwhile')".formatted(last.get() + 1));
              last.incrementAndGet();
            }
          }
        });
    try {
      Await.until("commits", () -> last.get() > 100);
      pair.ask(pair.standby, "standby", "init").expect(0, "copied http://127.0.0.1:", " at 1/");
      pair.ask(pair.primary, "status")
          .expect(0, "standby second: the log is kept for it from 1/", "it has not asked");
      long copied = last.get();
      Await.until("more commits", () -> last.get() > copied + 100);
    } finally {
      stopping.set(1);
    }
    client.get(60, TimeUnit.SECONDS);
    // The rest is in the log, which is kept for the standby over starts.
    pair.primary.stop();
    pair.primary.start();
    Command.run("check", data()).expect(0, "no problems");
    pair.standby.start();
    pair.awaitStandby();
    String sql = "select count(*)::text from entry where ";
    assertEquals(
        List.of(String.valueOf(last.get())), StandbyPair.column(pair.standby, sql + "id > 0"));
    assertEquals(List.of(String.valueOf(ROWS)), StandbyPair.column(pair.standby, sql + "id < 0"));
    pair.ask(pair.standby, "standby", "init").expect(1, "an endpoint runs on");
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    assertEquals(
        List.of("1"),
        StandbyPair.column(pair.standby, "select ready::text from kakehashi_catalog.queues"));
  }

  @Test
  void shouldLeaveNothingOfACopyThatCameInPart() throws Exception {
    try (Proxy network = Proxy.before(pair.port(pair.primary))) {
      String[] throughIt = {"standby", "init", "-s", "primary=" + network.address()};
      for (long bytes : new long[] {0, 100, 100_000, 1_000_000}) {
        network.cutAfter(bytes);
        Command cut = pair.ask(pair.standby, throughIt);
        assertEquals(1, cut.exitCode(), cut.output());
        assertFalse(hasContent(), "something is left");
      }
      network.silentAfter(100_000);
      pair.ask(pair.standby, throughIt).expect(1, "nothing has come for");
      assertFalse(hasContent(), "something is left");
      network.cutAfter(Long.MAX_VALUE);
      // As a kill leaves it.
      Path unfinished =
          Files.createDirectories(pair.standby.dataDirectory().resolve("restore.tmp"));
      Files.createFile(unfinished.resolve("standby-init"));
      Files.writeString(pair.standby.dataDirectory().resolve("moved"), "a part");
      Command.run("start", "-D", data(), "-R", home.resolve("run").toString())
          .expect(1, "was not finished");
      pair.ask(pair.standby, throughIt).expect(0, "copied");
      assertFalse(Files.exists(pair.standby.dataDirectory().resolve("moved")));
    }
    pair.ask(pair.standby, "standby", "init").expect(1, "is not empty");
    pair.standby.start();
    pair.awaitStandby();
    assertTrue(hasContent());
  }

  @Test
  void shouldLetNoCommitGoBecauseTheLogIsKeptForIt() throws Exception {
    try (Session session = pair.primary.attach()) {
      session.execute("alter system set synchronous_patience = '200ms'");
      session.execute("alter system set synchronous_standby = 'second'");
    }
    pair.ask(pair.primary, "reload").expect(0);
    try (Session session = pair.primary.attach()) {
      CompletableFuture<Void> commit =
          CompletableFuture.runAsync(() -> session.execute("insert into entry values (1, 'x')"));
      Await.until(
          "the wait",
          () -> pair.ask(pair.primary, "status").output().contains("are kept waiting by standby"));
      // The commit takes no thread that others need.
      assertEquals(List.of("served"), StandbyPair.column(pair.primary, "select 'served'"));
      pair.ask(pair.standby, "standby", "init").expect(0, "copied");
      assertFalse(commit.isDone(), "nobody has it but the primary, and files that do not run");
      pair.standby.start();
      commit.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldLeaveOutSettingsOfThePrimaryAlone() throws Exception {
    try (Session session = pair.primary.attach()) {
      session.execute("alter system set standby_name = 'first'");
      session.execute("alter system set primary_user = 'nobody'");
      session.execute("alter system set primary = 'http://127.0.0.1:1'");
      session.execute("alter system set synchronous_patience = '7s'");
      session.execute("alter system set synchronous_standby = 'second'");
    }
    pair.ask(pair.standby, "standby", "init")
        .expect(
            0,
            "left out, as it is the primary's: standby_name = first",
            "left out, as it is the primary's: primary_user = nobody",
            "left out, as it is the primary's: primary = http://127.0.0.1:1",
            "left out, as it is the primary's: synchronous_standby = second");
    Path copied = pair.standby.dataDirectory().resolve("kakehashi.auto.conf");
    assertEquals(
        List.of("synchronous_patience = 7s"),
        Files.readAllLines(copied).stream().filter(line -> !line.startsWith("#")).toList());
    pair.standby.start();
    pair.awaitStandby();
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    // It would wait for itself for ever.
    try (Session session = pair.standby.attach()) {
      session.execute("insert into entry values (1, 'of the new primary')");
    }
  }

  @Test
  void shouldKeepTheNameOfAnotherStandbyThatCommitsWaitFor() throws Exception {
    try (Session session = pair.primary.attach()) {
      session.execute("alter system set synchronous_standby = 'third'");
    }
    Command init = pair.ask(pair.standby, "standby", "init");
    init.expect(0, "copied");
    assertFalse(init.output().contains("left out"), init.output());
    assertTrue(
        Files.readString(pair.standby.dataDirectory().resolve("kakehashi.auto.conf"))
            .contains("synchronous_standby = third"));
    // A backup is made a standby's without its name.
    Path backup = home.resolve("backup");
    pair.ask(pair.primary, "backup", backup.toString(), "-q").expect(0);
    Path other = home.resolve("other");
    Command.run("restore", "--standby", backup.toString(), other.toString())
        .expect(0, "left out, as it is the primary's: synchronous_standby = third");
    assertFalse(
        Files.readString(other.resolve("kakehashi.auto.conf")).contains("synchronous_standby"));
  }

  @Test
  void shouldAskWhoCopies() throws Exception {
    Path wrong = home.resolve("wrong");
    Files.writeString(wrong, "guessed\n");
    pair.ask(pair.standby, "standby", "init", "-s", "primary_password_file=" + wrong)
        .expect(1, "the primary answers with 401");
    pair.ask(pair.standby, "standby", "init", "-s", "primary_user=other")
        .expect(1, "the primary answers with 403", "kakehashi_replication");
    pair.ask(pair.standby, "standby", "init", "-s", "primary=").expect(1, "\"primary\" has to say");
    assertFalse(hasContent());
    pair.ask(pair.standby, "standby", "init").expect(0, "copied");
    pair.standby.start();
    // A second one of that name would take the place of the first one in the primary's log.
    pair.awaitStandby();
    Command.run(
            "standby",
            "init",
            "-c",
            pair.config(pair.standby).toString(),
            "-D",
            home.resolve("third").toString())
        .expect(1, "standby \\\"second\\\" is there");
  }
}
