package dev.kakehashi.server.http;

import static dev.kakehashi.server.http.HttpConnection.ending;
import static dev.kakehashi.server.http.HttpConnection.in;
import static dev.kakehashi.server.http.HttpConnection.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Transactions over several requests, named by the field of the header.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpTransactionsTest {
  private static HttpFixture door;
  private final List<String> begun = new ArrayList<>();
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start();
    door.table(0);
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void connect() throws IOException {
    alice = door.alice();
    alice.sql("delete from t").expect(200);
  }

  /// Transactions that a test leaves open would keep rows from the next one.
  @AfterEach
  void rollBack() throws IOException {
    try (HttpConnection own = HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
      for (String handle : begun) {
        own.post("/v1/transactions/" + handle + "/rollback");
      }
    }
  }

  private String begin(String parameters) throws IOException {
    String handle = alice.sql("", within("begin" + parameters)).expect(204).handle();
    begun.add(handle);
    return handle;
  }

  private String insert(int id, String... fields) throws IOException {
    return alice.sql("insert into t values (" + id + ", 'x')", fields).expect(200).state();
  }

  private String count() throws IOException {
    return alice.sql("select count(*) from t").value();
  }

  @Test
  void shouldBeginContinueAndEnd() throws IOException {
    HttpAnswer first = alice.sql("insert into t values (1, 'x')", within("begin;lease=60"));
    assertEquals("active", first.expect(200).state());
    long left = Long.parseLong(first.transaction("expires")) - System.currentTimeMillis() / 1000;
    assertTrue(left > 30 && left <= 61, left + " s");
    String handle = first.handle();
    // Another connection of the same user.
    HttpConnection other = door.alice();
    HttpAnswer second = other.sql("insert into t values (2, 'y')", in(handle)).expect(200);
    assertEquals(handle, second.handle());
    assertEquals("2", other.sql("select count(*) from t", in(handle)).value());
    assertEquals("0", count());
    HttpAnswer last = alice.sql("insert into t values (3, 'z')", ending(handle)).expect(200);
    assertEquals("committed", last.state());
    assertEquals("3", count());
  }

  @Test
  void shouldEndWithoutAStatement() throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals("1", count());
    String other = begin("");
    insert(2, in(other));
    HttpAnswer aborted = alice.sql("", within("abort;handle=\"" + other + "\"")).expect(204);
    assertEquals("aborted", aborted.state());
    assertEquals("", aborted.transaction("sqlstate"));
    assertEquals("1", count());
  }

  @Test
  void shouldDoTheSameByRoutes() throws IOException {
    HttpAnswer begun = alice.post("/v1/transactions", within("begin;label=\"routes\""));
    String handle = begun.expect(201).handle();
    assertEquals("/v1/transactions/" + handle, begun.header("Location"));
    assertEquals("active", begun.json().path("state").asText());
    insert(1, in(handle));
    HttpAnswer open = alice.get("/v1/transactions/" + handle).expect(200);
    assertEquals("active", open.json().path("state").asText());
    assertEquals("active", alice.post("/v1/transactions/" + handle + "/renew").expect(200).state());
    HttpAnswer committed =
        alice.post("/v1/transactions/" + handle + "/commit?response=available").expect(200);
    assertEquals("committed", committed.json().path("state").asText());
    assertEquals("1", count());
    // A second end tells how it ended.
    assertEquals(
        "committed", alice.post("/v1/transactions/" + handle + "/commit").expect(200).state());
    assertEquals(
        "committed", alice.post("/v1/transactions/" + handle + "/rollback").expect(200).state());
    String rolledBack = begin("");
    insert(2, in(rolledBack));
    assertEquals(
        "aborted", alice.post("/v1/transactions/" + rolledBack + "/rollback").expect(200).state());
    assertEquals("1", count());
    alice.post("/v1/transactions/" + handle + "/commit?response=soon").problem(400, "");
  }

  @ParameterizedTest
  @ValueSource(strings = {"COMMIT", "commit work;", "end", "/* bye */ COMMIT TRANSACTION -- now"})
  void shouldEndByCommitAsText(String sql) throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpAnswer answer = alice.sql(sql, in(handle)).expect(204);
    assertEquals("committed", answer.state());
    assertEquals("1", count());
    alice.sql("select 1", in(handle)).problem(404, "25P01");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ROLLBACK", "abort;", "rollback work"})
  void shouldEndByRollbackAsText(String sql) throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpAnswer answer = alice.sql(sql, in(handle)).expect(204);
    assertEquals("aborted", answer.state());
    assertEquals("0", count());
    alice.sql("select 1", in(handle)).problem(404, "25P01");
  }

  @Test
  void shouldRefuseSavepointsAndGoOn() throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpAnswer refused = alice.sql("savepoint s", in(handle));
    refused.problem(501, "0A000");
    assertEquals("active", refused.state());
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals("1", count());
  }

  /// As for every client of the engine, and the answer says so: it is the statement that has failed.
  @Test
  void shouldUndoAStatementThatFailsAndGoOn() throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpAnswer failed =
        alice.sql("insert into t select i, 'x' from generate_series(2, 0, -1) i", in(handle));
    JsonNode problem = failed.problem(422, "23505");
    assertEquals(handle, problem.path("transaction").asText());
    assertEquals("active", failed.state());
    assertEquals(handle, failed.handle());
    assertEquals("1", alice.sql("select count(*) from t", in(handle)).value());
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals("1", count());
  }

  /// A statement that was to be the last one, and fails, does not let the others be committed.
  @Test
  void shouldNotCommitWhenTheLastStatementFails() throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpAnswer failed = alice.sql("select 1 / 0", ending(handle));
    failed.problem(422, "22012");
    assertEquals("0", count(), failed::toString);
    HttpAnswer now = alice.get("/v1/transactions/" + handle).expect(200);
    assertEquals(failed.state(), now.state(), failed::toString);
  }

  @Test
  void shouldTakeTheOptionsOfTransactions() throws IOException {
    String reader = begin(";kind=rtx;isolation=serializable;label=\"nightly\"");
    alice.sql("insert into t values (1, 'x')", in(reader)).problem(409, "25006");
    String repeatable = begin(";isolation=repeatable-read;timeout=60");
    assertEquals("0", alice.sql("select count(*) from t", in(repeatable)).value());
    insert(1);
    assertEquals("0", alice.sql("select count(*) from t", in(repeatable)).value());
    assertEquals("aborted", alice.sql("rollback", in(repeatable)).state());
    // A long transaction has declared what it writes: short ones give way.
    String nightly = begin(";kind=ltx;write=(\"t\");label=\"nightly\"");
    assertEquals("active", alice.sql("update t set v = 'long'", in(nightly)).expect(200).state());
    HttpAnswer given = alice.sql("update t set v = 'short'");
    JsonNode problem = given.problem(409, "40001");
    assertTrue(problem.path("retryable").asBoolean(), problem::toString);
    assertEquals("committed", alice.sql("", ending(nightly)).expect(204).state());
    assertEquals("long", alice.sql("select v from t").value());
    // As a dictionary, since lists cannot be parameters.
    HttpAnswer other =
        alice.sql("select 1", within("begin, kind=ltx, write=(\"t\"), label=\"x\"")).expect(200);
    assertEquals("committed", alice.sql("", ending(other.handle())).expect(204).state());
    alice.sql("select 1", within("begin;kind=otx")).problem(400, "");
    alice.sql("select 1", within("begin;write=(\"no_table\");kind=ltx")).problem(400, "42P01");
  }

  @Test
  void shouldTellThatTheConflictMayBeRetried() throws IOException {
    insert(1);
    String first = begin(";isolation=repeatable-read");
    assertEquals("1", alice.sql("select count(*) from t", in(first)).value());
    alice.sql("update t set v = 'other'").expect(200);
    HttpAnswer late = alice.sql("update t set v = 'late'", in(first));
    JsonNode problem = late.problem(409, "40001");
    assertTrue(problem.path("retryable").asBoolean());
    assertEquals(first, problem.path("transaction").asText());
    assertEquals(first, late.handle());
    assertEquals("other", alice.sql("select v from t").value());
  }

  /// Requests of one transaction take turns: none fails, none is lost, and the answers show no half of another.
  @Test
  void shouldLetRequestsOfOneTransactionTakeTurns() throws Exception {
    String handle = begin("");
    int clients = 8;
    int each = 20;
    CountDownLatch together = new CountDownLatch(clients);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int c = 0; c < clients; c++) {
        int from = c * each;
        all.add(
            threads.submit(() -> {
              try (HttpConnection own =
                  HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
                together.countDown();
                together.await();
                for (int i = 0; i < each; i++) {
                  String sql = "insert into t values (" + (from + i) + ", 'x')";
                  assertEquals("active", own.sql(sql, in(handle)).expect(200).state());
                }
              }
              return null;
            }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals(Integer.toString(clients * each), count());
  }

  @Test
  void shouldBoundTheRequestsOfOneTransaction() throws IOException {
    String handle = begin("");
    List<HttpConnection> clients = new ArrayList<>();
    try (Session watcher = door.endpoint().attach("alice")) {
      for (int i = 1; i <= 16; i++) {
        int expected = i;
        clients.add(door.alice().sendSql("/* many */ " + HttpFixture.ENDLESS, in(handle)));
        Await.until("it runs", () -> HttpFixture.running(watcher, "many") == expected);
      }
    }
    HttpAnswer refused = alice.sql("select 1", in(handle));
    assertTrue(refused.problem(409, "55006").path("retryable").asBoolean());
    assertEquals("active", refused.state());
    alice.post("/v1/transactions/" + handle + "/cancel").expect(200);
    for (HttpConnection client : clients) {
      client.answer().problem(409, "57014");
    }
    assertEquals("1", alice.sql("select 1", in(handle)).value());
  }

  @Test
  void shouldLetACommitWaitForTheStatementBeforeIt() throws IOException {
    String handle = begin("");
    HttpConnection other = door.alice();
    other.sendSql("insert into t select i, 'x' from generate_series(1, 20000) i", in(handle));
    HttpAnswer inserted = other.answer();
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals("20000", inserted.expect(200).header("Kakehashi-Rows"));
    assertEquals("20000", count());
  }

  @Test
  void shouldRollBackWhenTheLeaseEnds() throws IOException {
    HttpAnswer begun = alice.sql("insert into t values (1, 'x')", within("begin;lease=1"));
    String handle = begun.expect(200).handle();
    // No request on it: each look would renew the lease.
    Await.until(
        "the row is free",
        () -> {
          try {
            return alice
                .sql("select count(*) from kakehashi_catalog.transactions")
                .value()
                .equals("1");
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
    HttpAnswer late = alice.sql("select 1", in(handle));
    assertEquals(404, late.status(), late::toString);
    assertEquals("0", count());
    HttpAnswer outcome = alice.get("/v1/transactions/" + handle);
    assertEquals("aborted", outcome.expect(200).json().path("state").asText());
  }

  @Test
  void shouldHideTransactionsFromOthersAndFromThoseWhoGuess() throws IOException {
    String handle = begin("");
    insert(1, in(handle));
    HttpConnection bob = door.bob();
    String guess = UUID.randomUUID().toString().replace("-", "");
    List<String> answers = new ArrayList<>();
    for (String other : List.of(handle, guess, "0".repeat(32))) {
      for (HttpAnswer answer :
          List.of(
              bob.sql("select 1", in(other)),
              bob.sql("", ending(other)),
              bob.sql("", within("abort;handle=\"" + other + "\"")),
              bob.get("/v1/transactions/" + other),
              bob.post("/v1/transactions/" + other + "/rollback"),
              bob.post("/v1/transactions/" + other + "/commit"),
              bob.post("/v1/transactions/" + other + "/renew"),
              bob.post("/v1/transactions/" + other + "/cancel"))) {
        answers.add(answer.problem(404, "25P01").toString().replace(other, "…"));
        assertEquals("", answer.transaction("handle"), answer::toString);
      }
    }
    assertEquals(answers.subList(0, 8), answers.subList(8, 16));
    assertEquals(answers.subList(0, 8), answers.subList(16, 24));
    alice.get("/v1/transactions/../transactions").problem(404, "");
    bob.get("/v1/transactions/" + "a".repeat(3000)).problem(404, "");
    assertEquals("active", alice.sql("select 1", in(handle)).expect(200).state());
    assertEquals("committed", alice.sql("", ending(handle)).expect(204).state());
    assertEquals("1", count());
    // Nor does he learn how it ended.
    bob.get("/v1/transactions/" + handle).problem(404, "25P01");
  }

  @Test
  void shouldTellTheOutcomeAfterTheEndAndAfterARestart() throws IOException {
    String committed = begin("");
    insert(1, in(committed));
    alice.sql("", ending(committed)).expect(204);
    String rolledBack = begin("");
    insert(2, in(rolledBack));
    alice.sql("rollback", in(rolledBack)).expect(204);
    String open = begin("");
    insert(3, in(open));
    HttpAnswer late = alice.sql("insert into t values (4, 'x')", in(committed));
    late.problem(404, "25P01");
    assertEquals("committed", late.state(), late::toString);

    door.endpoint().restart();
    alice = door.alice();
    assertEquals("1", count());
    assertEquals("committed", outcome(committed));
    assertEquals("aborted", outcome(rolledBack));
    assertEquals("aborted", outcome(open));
    door.bob().get("/v1/transactions/" + committed).problem(404, "25P01");
  }

  private String outcome(String handle) throws IOException {
    HttpAnswer answer = alice.get("/v1/transactions/" + handle).expect(200);
    assertEquals(handle, answer.json().path("handle").asText());
    assertEquals(answer.state(), answer.json().path("state").asText());
    return answer.state();
  }

  @Test
  void shouldSayOnEachAnswerHowTheTransactionStands() throws IOException {
    String handle = begin("");
    assertEquals("active", alice.sql("select 1", in(handle)).state());
    assertEquals(handle, alice.sql("select nothing", in(handle)).transaction("handle"));
    assertEquals("committed", alice.sql("select 1").state());
    assertEquals("aborted", alice.sql("select 1 / 0").state());
    assertEquals("aborted", alice.sql("selekt").state());
  }

  @Test
  void shouldCancelWhatATransactionRuns() throws IOException {
    String handle = begin("");
    try (var watcher = door.endpoint().attach("alice")) {
      HttpConnection other = door.alice();
      other.sendSql("/* endless */ " + HttpFixture.ENDLESS, in(handle));
      Await.until("the statement runs", () -> HttpFixture.running(watcher, "endless") == 1);
      alice.post("/v1/transactions/" + handle + "/cancel").expect(200);
      HttpAnswer canceled = other.answer();
      canceled.problem(409, "57014");
      assertEquals(handle, canceled.handle());
    }
  }

  @Test
  void shouldRefuseFieldsAndStatementsThatDoNotFit() throws IOException {
    String handle = begin("");
    alice.sql("begin", in(handle)).problem(409, "25001");
    alice.sql("select 1", within("abort;handle=\"" + handle + "\"")).problem(400, "");
    alice.sql("select 1", within("continue")).problem(400, "");
    alice.sql("select 1", within("continue;handle=" + handle)).problem(400, "");
    alice.sql("commit", within("begin")).problem(400, "");
    alice.sql("select 1", within("begin;lease=-1")).problem(400, "");
    alice.sql("select 1", within("begin;label=\"" + "x".repeat(300) + "\"")).problem(400, "");
    assertEquals("active", alice.sql("", in(handle)).expect(204).state());
  }
}
