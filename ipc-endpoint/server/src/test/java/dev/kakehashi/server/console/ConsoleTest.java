package dev.kakehashi.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.HttpEndpoint;
import java.io.IOException;
import java.net.HttpCookie;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The console over HTTP: who gets in, what a page may do, what is noted.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before all tests
class ConsoleTest {
  private static final String OPERATOR = System.getProperty("user.name");
  private static final String HOSTILE = "<img src=x onerror=alert(1)>\"'&";
  private static final List<String> PAGES =
      List.of(
          "overview",
          "statements",
          "transactions",
          "queues",
          "dead-letters",
          "applications",
          "storage",
          "sql",
          "audit");

  private static HttpEndpoint endpoint;

  @BeforeAll
  static void start() throws IOException {
    endpoint = HttpEndpoint.start("http_console", "on");
    endpoint.user(OPERATOR, "runs it");
    endpoint.user("bob", "bobs");
  }

  @AfterAll
  static void stop() throws IOException {
    endpoint.close();
  }

  private static ConsoleClient operator() throws IOException, InterruptedException {
    ConsoleClient client = new ConsoleClient(endpoint.uri());
    assertEquals(303, client.login(OPERATOR, "runs it"));
    return client;
  }

  @Test
  void shouldShowNothingWithoutLogin() throws Exception {
    try (ConsoleClient nobody = new ConsoleClient(endpoint.uri())) {
      for (String page : PAGES) {
        HttpResponse<String> answer = nobody.get("/console/" + page);
        assertEquals(303, answer.statusCode(), page);
        assertEquals("/console/login", answer.headers().firstValue("Location").orElse(""));
        assertEquals(401, nobody.get("/console/" + page + "?live=true").statusCode(), page);
      }
      assertEquals(303, nobody.post("/console/sql", "sql", "select 1").statusCode());
      assertEquals(200, nobody.get("/console/login").statusCode());
    }
  }

  @Test
  void shouldRefuseWrongPasswordAndKeepTheName() throws Exception {
    try (ConsoleClient client = new ConsoleClient(endpoint.uri())) {
      HttpResponse<String> answer =
          client.post("/console/login", "user", "bob" + HOSTILE, "password", "x");
      assertEquals(401, answer.statusCode());
      assertFalse(answer.body().contains("<img"), answer.body());
      assertTrue(answer.body().contains("value=\"bob&lt;img"), answer.body());
      assertEquals(303, client.get("/console/overview").statusCode());
    }
  }

  @Test
  void shouldKeepTheTokenFromScriptsAndOtherSites() throws Exception {
    try (ConsoleClient client = operator()) {
      HttpCookie cookie = client.cookies().getCookieStore().getCookies().getFirst();
      assertTrue(cookie.isHttpOnly());
      assertEquals("/console", cookie.getPath());
      HttpResponse<String> page = client.get("/console/overview");
      String policy = page.headers().firstValue("Content-Security-Policy").orElse("");
      assertTrue(
          policy.startsWith("default-src 'none'; script-src 'self'; style-src 'self'"), policy);
      assertFalse(policy.contains("unsafe"), policy);
      assertEquals("no-store", page.headers().firstValue("Cache-Control").orElse(""));
      assertFalse(page.body().contains(cookie.getValue()));
      // The token is no password of the API: a cookie alone opens nothing there.
      assertEquals(401, client.get("/v1/queues").statusCode());
    }
  }

  @Test
  void shouldAnswerEachPageWithItsSql() throws Exception {
    try (ConsoleClient client = operator()) {
      for (String page : PAGES) {
        HttpResponse<String> answer = client.get("/console/" + page);
        assertEquals(200, answer.statusCode(), page + "\n" + answer.body());
        assertEquals(!page.equals("sql"), answer.body().contains("SQL of this page"), page);
        assertFalse(answer.body().contains("style="), page);
        assertFalse(answer.body().contains("onclick"), page);
      }
    }
  }

  @Test
  void shouldRefuseFormsOfOthers() throws Exception {
    try (ConsoleClient client = operator();
        ConsoleClient other = operator()) {
      assertEquals(
          403,
          client
              .post("/console/sql", "csrf", "", "sql", "create table stolen (i int)")
              .statusCode());
      assertEquals(
          403,
          client
              .post("/console/sql", "csrf", other.csrf(), "sql", "create table stolen (i int)")
              .statusCode());
      assertTrue(client.sql("select count(*) from stolen").body().contains("42P01"));
      assertEquals(403, client.post("/console/logout", "csrf", "x").statusCode());
      assertEquals(200, client.get("/console/overview").statusCode());
    }
  }

  @Test
  void shouldEndWithTheLogout() throws Exception {
    try (ConsoleClient client = operator()) {
      HttpCookie cookie = client.cookies().getCookieStore().getCookies().getFirst();
      assertEquals(303, client.post("/console/logout", "csrf", client.csrf()).statusCode());
      HttpCookie again = new HttpCookie(cookie.getName(), cookie.getValue());
      again.setPath("/console");
      client.cookies().getCookieStore().add(endpoint.uri(), again);
      assertEquals(303, client.get("/console/overview").statusCode());
    }
  }

  @Test
  void shouldShowHostileNamesAsText() throws Exception {
    String quoted = "\"" + HOSTILE.replace("\"", "\"\"") + "\"";
    String queue = "\"" + HOSTILE.replace("\"", "\"\"") + "q\"";
    try (ConsoleClient client = operator()) {
      client.sql("create table " + quoted + " (" + quoted + " text)");
      client.sql("insert into " + quoted + " values ('" + HOSTILE.replace("'", "''") + "')");
      client.sql("create queue " + queue);
      client.sql(
          "select enqueue('"
              + queue.replace("'", "''")
              + "', '{\"a\": \"<script>\"}', key => '<b>')");
      HttpResponse<String> result = client.sql("select * from " + quoted);
      assertTrue(result.body().contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
      for (String page :
          List.of(
              "queues",
              "storage",
              "audit",
              "queue?schema=public&name="
                  + java.net.URLEncoder.encode(
                      HOSTILE + "q", java.nio.charset.StandardCharsets.UTF_8))) {
        HttpResponse<String> answer = client.get("/console/" + page);
        assertEquals(200, answer.statusCode(), page + "\n" + answer.body());
        assertTrue(answer.body().contains("&lt;img"), page);
        assertFalse(answer.body().contains("<img"), page);
        assertFalse(answer.body().contains("<b>"), page);
      }
      client.sql("drop queue " + queue);
      client.sql("drop table " + quoted);
    }
  }

  @Test
  void shouldShowEachOptionOfAQueueAndNoCountAmongThem() throws Exception {
    try (ConsoleClient client = operator()) {
      client.sql("create queue parcel with (max_attempts = 7, push_deadline = '9 s')");
      String page = client.get("/console/queue?schema=public&name=parcel").body();
      for (String option :
          List.of("owner", "lease", "max_attempts", "dead_letter", "push_deadline", "jitter")) {
        assertTrue(page.contains("<th scope=\"row\">" + option + "</th>"), option + page);
      }
      assertTrue(page.contains("max_attempts</th><td>7</td>"), page);
      assertFalse(page.contains("<th scope=\"row\">bytes</th>"), page);
      client.sql("drop queue parcel");
    }
  }

  @Test
  void shouldDoAndNoteActionsOnQueues() throws Exception {
    try (ConsoleClient client = operator()) {
      client.sql("create queue mail with (max_attempts = 1)");
      client.sql("select enqueue('mail', '{}') from generate_series(1, 3)");
      client.sql("select fail(token, error => 'smtp is down') from receive('mail', \"max\" => 3)");
      client.sql("select enqueue('mail', '{}')");
      client.sql(
          "select fail(token, error => E'no such\nuser') from receive('mail', \"max\" => 1)");
      String dead = client.get("/console/dead-letters").body();
      assertTrue(dead.contains("smtp is down"), dead);
      String csrf = client.csrf();
      HttpResponse<String> replayed =
          client.post(
              "/console/dead-letters/replay",
              "csrf",
              csrf,
              "schema",
              "public",
              "name",
              "mail",
              "to_schema",
              "public",
              "to_name",
              "mail",
              "like",
              "",
              "count",
              "2",
              "rate",
              "100");
      assertEquals(303, replayed.statusCode(), replayed.body());
      assertTrue(
          client.get("/console/dead-letters").body().contains("2 tasks of mail become ready"));
      // By error: the form has a task that has it.
      String errors = client.get("/console/dead-letters").body();
      Matcher like =
          Pattern.compile("(?s)no such\\s+user.*?name=\"like\" value=\"(\\d+)\"").matcher(errors);
      assertTrue(like.find(), errors);
      HttpResponse<String> ofError =
          client.post(
              "/console/dead-letters/replay",
              "csrf",
              csrf,
              "schema",
              "public",
              "name",
              "mail",
              "to_schema",
              "public",
              "to_name",
              "mail",
              "like",
              like.group(1),
              "count",
              "100",
              "rate",
              "100");
      assertEquals(303, ofError.statusCode(), ofError.body());
      String after = client.get("/console/dead-letters").body();
      assertTrue(after.contains("1 tasks of mail become ready"), after);
      assertFalse(after.contains("no such"), after);
      assertEquals(
          303,
          client
              .post(
                  "/console/queue/act",
                  "csrf",
                  csrf,
                  "schema",
                  "public",
                  "name",
                  "mail",
                  "act",
                  "pause")
              .statusCode());
      assertTrue(client.get("/console/queues").body().contains("paused"));
      assertEquals(
          404,
          client
              .post("/console/statements/cancel", "csrf", csrf, "handle", "12345", "back", "")
              .statusCode());
      String audit = client.get("/console/audit").body();
      assertTrue(audit.contains("replay dead letters"), audit);
      assertTrue(audit.contains("MOVE DEAD 2 FROM QUEUE"), audit);
      assertTrue(audit.contains("pause queue"), audit);
      assertTrue(audit.contains("nothing to cancel"), audit);
      client.sql("drop queue mail");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldRollBackATransaction(boolean isOwn) throws Exception {
    try (ConsoleClient client = operator();
        Session session = endpoint.attach(isOwn ? OPERATOR : "somebody")) {
      try (var transaction = session.begin()) {
        String handle = Long.toString(transaction.handle());
        String body = client.get("/console/transactions").body();
        assertTrue(body.contains("value=\"" + handle + "\""), body);
        assertEquals(
            303,
            client
                .post("/console/transactions/rollback", "csrf", client.csrf(), "handle", handle)
                .statusCode());
        assertEquals(
            "25P03", assertThrows(EndpointException.class, transaction::commit).sqlstate());
        assertEquals(
            404,
            client
                .post("/console/transactions/rollback", "csrf", client.csrf(), "handle", handle)
                .statusCode());
      }
    }
  }

  @Test
  void shouldCancelAStatementThatCommitsByItself() throws Exception {
    try (ConsoleClient client = operator();
        ConsoleClient other = operator()) {
      String csrf = other.csrf();
      CompletableFuture<String> answer =
          CompletableFuture.supplyAsync(() -> {
            try {
              return other
                  .post(
                      "/console/sql",
                      "csrf",
                      csrf,
                      "sql",
                      "select count(*) from generate_series(1, 100000000000) i where i % 7 = 8",
                      "seconds",
                      "50")
                  .body();
            } catch (IOException | InterruptedException e) {
              throw new IllegalStateException(e);
            }
          });
      // The form of its row; a job has none for sessions.
      Pattern session =
          Pattern.compile(
              "100000000000(?:(?!</tr>).)*name=\"session\" value=\"(\\d+)\"", Pattern.DOTALL);
      long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      Matcher found = session.matcher("");
      while (!found.reset(client.get("/console/statements").body()).find()) {
        assertTrue(System.nanoTime() < deadline, "the statement is not among those that run");
      }
      assertEquals(
          303,
          client
              .post(
                  "/console/statements/cancel-session",
                  "csrf",
                  client.csrf(),
                  "session",
                  found.group(1))
              .statusCode());
      assertTrue(answer.get(20, TimeUnit.SECONDS).contains("57014"));
    }
  }

  @Test
  void shouldShowWhereAStatementIsWrong() throws Exception {
    try (ConsoleClient client = operator()) {
      String body = client.sql("select 1,\n  nothere").body();
      assertTrue(body.contains("42703"), body);
      assertTrue(body.contains("  nothere\n  ^"), body);
    }
  }

  @Test
  void shouldKeepLongAnswersShort() throws Exception {
    try (ConsoleClient client = operator()) {
      String body =
          client.sql("select i, repeat('x', 100000) from generate_series(1, 5000) i").body();
      assertTrue(body.contains("The first "), body.substring(0, 2000));
      assertTrue(body.length() < 20 << 20, "" + body.length());
      assertTrue(client.sql("select '日本語', null::text, 1.50").body().contains("日本語"));
    }
  }

  @Test
  void shouldGiveEachUserHisOwnRights() throws Exception {
    try (HttpEndpoint roles = HttpEndpoint.start("http_console", "on");
        ConsoleClient owner = new ConsoleClient(roles.uri());
        ConsoleClient bob = new ConsoleClient(roles.uri())) {
      roles.user(OPERATOR, "runs it");
      assertEquals(303, owner.login(OPERATOR, "runs it"));
      owner.sql("create table secrets (v text)");
      owner.sql("create role bob login password 'bobs'");
      assertEquals(303, bob.login("bob", "bobs"));
      assertTrue(bob.sql("select * from secrets").body().contains("42501"));
      assertEquals(403, bob.get("/console/audit").statusCode());
      assertTrue(bob.get("/console/storage").body().contains("Only members of pg_monitor"));
      assertTrue(owner.get("/console/audit").body().contains("log in"));
      owner.sql("drop role bob");
      // A look at his right to be here holds for a tenth of a second.
      long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      while (bob.get("/console/overview").statusCode() == 200) {
        assertTrue(System.nanoTime() < deadline, "a dropped role still sees pages");
      }
      assertEquals(303, bob.get("/console/overview").statusCode());
    }
  }
}
