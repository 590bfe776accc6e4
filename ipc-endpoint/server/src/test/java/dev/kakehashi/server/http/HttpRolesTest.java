package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Roles and privileges of those who come by HTTP.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpRolesTest {
  private HttpFixture door;
  private HttpConnection owner;
  private HttpConnection alice;
  private HttpConnection bob;

  @BeforeEach
  void start() throws IOException {
    door = HttpFixture.start();
    String operator = System.getProperty("user.name");
    door.endpoint().user(operator, "runs it");
    owner = door.connect(HttpConnection.basic(operator, "runs it"));
    owner.sql("create table t (id int8 primary key, v text)").expect(200);
    owner.sql("insert into t values (1, 'x')").expect(200);
    owner.sql("create role readers").expect(200);
    alice = door.alice();
    bob = door.bob();
  }

  @AfterEach
  void stop() throws Exception {
    door.close();
  }

  @Test
  void shouldRefuseWhatWasNotGranted() throws IOException {
    HttpAnswer refused = bob.sql("select v from t");
    JsonNode problem = refused.problem(403, "42501");
    assertFalse(problem.path("retryable").asBoolean());
    owner.sql("grant select on t to readers").expect(200);
    bob.sql("select v from t").problem(403, "42501");
    owner.sql("grant readers to bob").expect(200);
    assertEquals("x", bob.sql("select v from t").value());
    bob.sql("insert into t values (2, 'y')").problem(403, "42501");
    bob.sql("drop table t").problem(403, "42501");
    alice.sql("select v from t").problem(403, "42501");
    // The same connection, session and plan.
    owner.sql("revoke select on t from readers").expect(200);
    bob.sql("select v from t").problem(403, "42501");
  }

  @Test
  void shouldCheckColumns() throws IOException {
    owner.sql("grant select (id) on t to bob").expect(200);
    assertEquals("1", bob.sql("select id from t").value());
    bob.sql("select v from t").problem(403, "42501");
  }

  @Test
  void shouldCheckJobsAndTransactionsAlike() throws IOException {
    HttpAnswer job = bob.sql("select v from t", "Prefer: wait=50");
    job.problem(403, "42501");
    String handle = bob.post("/v1/transactions").expect(201).handle();
    bob.sql("select v from t", HttpConnection.in(handle)).problem(403, "42501");
    owner.sql("grant select on t to bob").expect(200);
    assertEquals("x", bob.sql("select v from t", "Prefer: wait=50").value());
    // A plan of the transaction's catalogue, or the newest: it must not fail for ever.
    assertEquals(
        "aborted", bob.post("/v1/transactions/" + handle + "/rollback").expect(200).state());
  }

  private static JsonNode row(HttpConnection by, String user) throws IOException {
    for (JsonNode each : by.get("/v1/transactions").expect(200).json().path("rows")) {
      if (each.path("user_name").asText().equals(user)
          && each.path("isolation").asText().equals("REPEATABLE READ")) {
        return each;
      }
    }
    throw new AssertionError("no transaction of " + user);
  }

  private static String begin(HttpConnection by) throws IOException {
    return by.post(
            "/v1/transactions",
            "Kakehashi-Transaction: begin;isolation=repeatable-read;lease=86400")
        .expect(201)
        .handle();
  }

  private static void assertTold(HttpConnection client, String handle) throws IOException {
    HttpAnswer answer = client.sql("select 1", HttpConnection.in(handle));
    answer.problem(404, "25P03");
    assertEquals("aborted", answer.state());
    assertEquals("aborted", client.get("/v1/transactions/" + handle).expect(200).state());
  }

  /// By its token, by its number, by SQL.
  @Test
  void shouldEndTransactionsOfOthersForThoseWhoMay() throws IOException {
    owner.sql("create role guard login password 'secret' in role pg_signal_backend").expect(200);
    HttpConnection guard = door.connect(HttpConnection.basic("guard", "secret"));
    String first = begin(bob);
    assertTrue(row(bob, "bob").path("idle_since").isTextual());
    for (String path : new String[] {first, row(owner, "bob").path("transaction_id").asText()}) {
      HttpAnswer refused = alice.delete("/v1/transactions/" + path);
      assertTrue(refused.status() == 404 || refused.status() == 403, refused::toString);
    }
    alice.post("/v1/transactions/" + first + "/rollback").problem(404, "25P01");
    assertEquals("active", bob.sql("select 1", HttpConnection.in(first)).expect(200).state());
    assertEquals(
        "aborted", guard.post("/v1/transactions/" + first + "/rollback").expect(200).state());
    assertTold(bob, first);
    guard.delete("/v1/transactions/" + first).problem(404, "25P01");

    String second = begin(bob);
    String number = row(owner, "bob").path("transaction_id").asText();
    guard.delete("/v1/transactions/" + number).expect(200);
    assertTold(bob, second);
    guard.delete("/v1/transactions/" + number).problem(404, "25P01");

    String third = begin(owner);
    String ofOwner = row(owner, System.getProperty("user.name")).path("transaction_id").asText();
    guard.delete("/v1/transactions/" + ofOwner).problem(403, "42501");
    guard.delete("/v1/transactions/" + third).problem(404, "25P01");
    assertEquals("aborted", owner.delete("/v1/transactions/" + third).expect(200).state());
    owner.delete("/v1/transactions/99999999999999999999").problem(404, "25P01");
  }

  @Test
  void shouldEndWhatADroppedRoleHasOpen() throws IOException {
    owner.sql("create role carol login password 'secret'").expect(200);
    HttpConnection carol = door.connect(HttpConnection.basic("carol", "secret"));
    String handle = begin(carol);
    assertEquals("1", carol.sql("select 1", HttpConnection.in(handle)).value());
    owner.sql("alter role carol nologin").expect(200);
    Await.until(
        "it is ended",
        () -> {
          try {
            return owner
                .sql(
                    "select count(*) from kakehashi_catalog.transactions where user_name = 'carol'")
                .value()
                .equals("0");
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
    owner.sql("alter role carol login").expect(200);
    assertTold(door.connect(HttpConnection.basic("carol", "secret")), handle);
  }

  @Test
  void shouldShowTablesThatTheUserMaySee() throws IOException {
    assertFalse(bob.get("/v1/tables").expect(200).text().contains("\"t\""));
    bob.get("/v1/tables/public.t").problem(404, "42P01");
    owner.sql("grant select (id) on t to bob").expect(200);
    assertTrue(bob.get("/v1/tables").expect(200).text().contains("\"t\""));
    assertEquals(1, bob.get("/v1/tables/public.t").expect(200).rows().size());
    owner.sql("grant select on t to bob").expect(200);
    assertEquals(2, bob.get("/v1/tables/public.t").expect(200).rows().size());
    assertEquals(2, owner.get("/v1/tables/public.t").expect(200).rows().size());
  }

  @Test
  void shouldGiveTheLogToMembersOverAnUpgradedConnectionAlone() throws IOException {
    String log = "/v1/log?standby=s&machine=m&log=0&from=1/0/1000&applied=1/0/1000";
    bob.get(log).problem(403, "42501");
    owner.sql("grant kakehashi_replication to bob").expect(200);
    assertTrue(bob.get(log).expect(426).text().contains("kakehashi-log"));
    HttpConnection standby = door.bob();
    standby.get(log, "Connection: Upgrade", "Upgrade: kakehashi-log").problem(409, "55000");
    // A refusal leaves the connection as it was.
    assertEquals("1", standby.sql("select 1").value());
  }

  private String token(String user, String password) throws IOException {
    return token(door, user, password);
  }

  private static String token(HttpFixture at, String user, String password) throws IOException {
    return at.connect(HttpConnection.basic(user, password))
        .post("/v1/login")
        .expect(200)
        .json()
        .path("token")
        .asText();
  }

  /// Looks until the token is refused: who may get in is looked at some times a second.
  private void awaitRefused(String token) throws IOException {
    HttpConnection connection = door.connect(HttpConnection.bearer(token));
    Await.until(
        "the token ends",
        () -> {
          try {
            HttpAnswer answer = connection.sql("select 1");
            assertTrue(answer.status() == 200 || answer.status() == 401, answer::toString);
            return answer.status() == 401;
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
  }

  @Test
  void shouldEndTokensOfRolesThatAreDropped() throws IOException {
    owner.sql("create role carol login password 'secret'").expect(200);
    String token = token("carol", "secret");
    assertEquals("1", door.connect(HttpConnection.bearer(token)).sql("select 1").value());
    owner.sql("drop role carol").expect(200);
    awaitRefused(token);
    door.connect(HttpConnection.basic("carol", "secret")).sql("select 1").problem(401, "");
  }

  @Test
  void shouldRefuseTheOldPasswordAtOnce() throws IOException {
    owner.sql("create role carol login password 'secret 0'").expect(200);
    for (int i = 1; i <= 20; i++) {
      HttpConnection old = door.connect(HttpConnection.basic("carol", "secret " + (i - 1)));
      String token = token("carol", "secret " + (i - 1));
      assertEquals("1", old.sql("select 1").value());
      owner.sql("alter role carol password 'secret " + i + "'").expect(200);
      door.connect(HttpConnection.bearer(token)).sql("select 1").problem(401, "");
      // Few, so that nobody has to wait.
      if (i % 10 == 0) {
        old.sql("select 1").problem(401, "");
      }
    }
    owner.sql("alter role carol nologin").expect(200);
    assertEquals(
        401, door.connect(HttpConnection.basic("carol", "secret 20")).sql("select 1").status());
  }

  @Test
  void shouldEndTokensWhenThePasswordChangesOrTheRoleMayNotLogIn() throws IOException {
    owner.sql("create role carol login password 'secret'").expect(200);
    String token = token("carol", "secret");
    owner.sql("alter role carol password 'other'").expect(200);
    awaitRefused(token);
    String next = token("carol", "other");
    owner.sql("alter role carol nologin").expect(200);
    awaitRefused(next);
    owner.sql("alter role carol login").expect(200);
    assertEquals("1", door.connect(HttpConnection.basic("carol", "other")).sql("select 1").value());
  }

  /// A user of the file becomes a role, and is the same.
  @Test
  void shouldKeepTokensWhenTheFirstRoleIsMade() throws IOException {
    try (HttpFixture fresh = HttpFixture.start()) {
      String token = token(fresh, "alice", "wonder");
      HttpConnection alice = fresh.connect(HttpConnection.bearer(token));
      assertEquals("1", alice.sql("select 1").value());
      fresh.bob().sql("create role readers").expect(200);
      // The door looks anew after some time.
      long until = System.nanoTime() + 500_000_000L;
      while (System.nanoTime() < until) {
        assertEquals("1", alice.sql("select 1").value());
      }
    }
  }

  @Test
  void shouldShowMetricsToMonitorsAlone() throws IOException {
    bob.get("/metrics").problem(403, "42501");
    door.connect("").get("/metrics").problem(401, "");
    owner.sql("grant pg_monitor to bob").expect(200);
    HttpAnswer page = bob.get("/metrics").expect(200);
    assertTrue(page.text().endsWith("# EOF\n"), page::toString);
    owner.get("/metrics").expect(200);
  }

  @Test
  void shouldShowAndEndJobsOfOthersToThoseWhoMay() throws IOException {
    HttpAnswer accepted = alice.sql(HttpFixture.ENDLESS, "Prefer: respond-async").expect(202);
    String location = accepted.header("Location");
    bob.get(location).problem(404, "");
    bob.post(location + "/cancel").problem(404, "");
    bob.delete(location).problem(404, "");
    assertEquals(0, bob.get("/v1/jobs").expect(200).json().path("jobs").size());
    owner.sql("grant pg_monitor to bob").expect(200);
    JsonNode seen = bob.get(location).expect(200).json();
    assertEquals("alice", seen.path("user").asText());
    assertFalse(seen.has("transaction"));
    HttpAnswer refused = bob.post(location + "/cancel");
    assertTrue(refused.status() == 403 || refused.status() == 404, refused::toString);
    owner.sql("grant pg_signal_backend to bob").expect(200);
    HttpAnswer canceled = bob.post(location + "/cancel");
    assertTrue(canceled.status() == 200 || canceled.status() == 202, canceled::toString);
    assertEquals(
        "canceled", alice.get(location + "?wait=50").expect(200).json().path("state").asText());
  }
}
