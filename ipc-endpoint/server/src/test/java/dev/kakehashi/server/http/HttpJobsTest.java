package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Statements as jobs, and their results as files.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpJobsTest {
  private static final String ASYNC = "Prefer: respond-async";

  /// Some megabytes: more than one file.
  private static final String LONG =
      "select i, repeat('x', 60) as v from generate_series(1, 60000) i";

  private static HttpFixture door;
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door =
        HttpFixture.start(
            "http_result_file_bytes",
            "1MB",
            "http_inline_bytes",
            "100kB",
            "http_user_running_jobs",
            "8");
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

  private static String location(HttpAnswer answer) {
    String location = answer.expect(202).header("Location");
    assertTrue(location.matches("/v1/jobs/[0-9a-zA-Z_-]{20,64}"), answer::toString);
    return location;
  }

  private JsonNode ended(String location) throws IOException {
    HttpAnswer answer = alice.get(location + "?wait=50").expect(200);
    JsonNode job = answer.json();
    assertTrue(job.has("ended"), answer::toString);
    return job;
  }

  private JsonNode succeeded(String location) throws IOException {
    JsonNode job = ended(location);
    assertEquals("succeeded", job.path("state").asText(), job::toString);
    return job;
  }

  private String count() throws IOException {
    return alice.sql("select count(*) from t").value();
  }

  private byte[] whole(JsonNode job) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (JsonNode file : job.path("files")) {
      all.writeBytes(alice.get(file.path("href").asText()).expect(200).body());
    }
    return all.toByteArray();
  }

  @Test
  void shouldAnswerAtOnceAndTellLater() throws IOException {
    HttpAnswer accepted = alice.sql("insert into t values (1, 'x') returning id", ASYNC);
    String location = location(accepted);
    assertEquals("respond-async", accepted.header("Preference-Applied"));
    JsonNode job = succeeded(location);
    assertEquals(1, job.path("rows").asInt());
    assertEquals("alice", job.path("user").asText());
    assertEquals("1", count());
    HttpAnswer result = alice.get(location + "/files/1").expect(200);
    assertEquals(List.of(List.of("1")), result.rows());
    // How its transaction ended can be asked for as well.
    String handle = job.path("transaction").asText();
    assertEquals("committed", alice.get("/v1/transactions/" + handle).expect(200).state());
  }

  @Test
  void shouldWaitAsLongAsTheClientWants() throws IOException {
    HttpAnswer quick = alice.sql("select 7", "Prefer: wait=50");
    assertEquals("7", quick.value());
    assertEquals("wait=50", quick.header("Preference-Applied"));
    HttpAnswer slow = alice.sql(HttpFixture.ENDLESS, "Prefer: respond-async, wait=1");
    String location = location(slow);
    assertEquals("running", alice.get(location).expect(200).json().path("state").asText());
    HttpAnswer canceled = alice.post(location + "/cancel");
    assertTrue(canceled.status() == 200 || canceled.status() == 202, canceled::toString);
    assertEquals("canceled", ended(location).path("state").asText());
  }

  @Test
  void shouldFailAsTheStatementDoes() throws IOException {
    HttpAnswer atOnce = alice.sql("select 1 / 0", "Prefer: wait=50");
    JsonNode problem = atOnce.problem(422, "22012");
    assertEquals(32, problem.path("job").asText().length(), problem::toString);
    String location =
        location(alice.sql("select i, 1 / (i - 50000) from generate_series(1, 60000) i", ASYNC));
    JsonNode job = ended(location);
    assertEquals("failed", job.path("state").asText());
    assertEquals("22012", job.path("problem").path("sqlstate").asText());
    assertEquals(0, job.path("files").size(), job::toString);
    alice.get(location + "/files/1").problem(404, "");
    assertEquals(0, filesOf(location));
  }

  /// Files of a job on the disk.
  private static long filesOf(String location) throws IOException {
    String token = location.substring(location.lastIndexOf('/') + 1);
    try (var files = java.nio.file.Files.walk(door.endpoint().dataDirectory().resolve("http"))) {
      return files
          .filter(java.nio.file.Files::isRegularFile)
          .filter(file -> file.toString().contains(token))
          .count();
    }
  }

  @Test
  void shouldPutALongResultIntoSeveralFiles() throws Exception {
    byte[] expected = alice.sql(LONG, "Accept: text/csv;header=absent").expect(200).body();
    String location = location(alice.sql(LONG, ASYNC, "Accept: text/csv;header=absent"));
    JsonNode job = succeeded(location);
    assertTrue(job.path("files").size() >= 3, job::toString);
    List<Callable<byte[]>> downloads = new ArrayList<>();
    for (JsonNode file : job.path("files")) {
      downloads.add(() -> {
        try (HttpConnection own =
            HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
          HttpAnswer answer = own.get(file.path("href").asText()).expect(200);
          byte[] digest = MessageDigest.getInstance("SHA-256").digest(answer.body());
          assertEquals(file.path("sha256").asText(), HexFormat.of().formatHex(digest));
          assertEquals(
              "sha-256=:" + Base64.getEncoder().encodeToString(digest) + ":",
              answer.header("Repr-Digest"));
          assertEquals(file.path("bytes").asInt(), answer.body().length);
          return answer.body();
        }
      });
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<byte[]> one : threads.invokeAll(downloads)) {
        all.writeBytes(one.get());
      }
    }
    assertArrayEquals(expected, all.toByteArray());
  }

  @Test
  void shouldAnswerLongResultsByALinkAndShortOnesAtOnce() throws IOException {
    HttpAnswer longer = alice.sql(LONG, "Prefer: wait=50");
    succeeded(location(longer));
    HttpAnswer within =
        alice.sql("select repeat('x', 50000)", "Prefer: wait=50", "Accept: text/csv").expect(200);
    assertEquals(50_000, within.text().strip().lines().skip(1).findFirst().orElse("").length());
  }

  @Test
  void shouldResumeADownload() throws IOException {
    String sql = "select i, repeat('x', 60) as v from generate_series(1, 5000) i";
    JsonNode file =
        succeeded(location(alice.sql(sql, ASYNC, "Accept: text/csv"))).path("files").path(0);
    String href = file.path("href").asText();
    HttpAnswer all = alice.get(href).expect(200);
    assertEquals(Integer.toString(all.body().length), all.header("Content-Length"));
    assertEquals("bytes", all.header("Accept-Ranges"));
    String tag = all.header("ETag");
    byte[] body = all.body();
    HttpAnswer rest = alice.get(href, "Range: bytes=1000-", "If-Range: " + tag).expect(206);
    assertEquals(
        "bytes 1000-" + (body.length - 1) + "/" + body.length, rest.header("Content-Range"));
    assertArrayEquals(Arrays.copyOfRange(body, 1000, body.length), rest.body());
    HttpAnswer last = alice.get(href, "Range: bytes=-10").expect(206);
    assertArrayEquals(Arrays.copyOfRange(body, body.length - 10, body.length), last.body());
    HttpAnswer other = alice.get(href, "Range: bytes=1000-", "If-Range: \"other\"").expect(200);
    assertArrayEquals(body, other.body());
    alice.get(href, "If-None-Match: " + tag).expect(304);
    HttpAnswer beyond = alice.get(href, "Range: bytes=" + body.length + "-");
    beyond.problem(416, "");
    assertEquals("bytes */" + body.length, beyond.header("Content-Range"));
    HttpConnection.Head head = alice.send("HEAD " + href, new byte[0]).head();
    assertEquals(200, head.status());
    assertEquals(
        Integer.toString(body.length), head.headers().get("content-length"), head::toString);
  }

  @Test
  void shouldListAndDelete() throws IOException {
    String first = location(alice.sql("select 'listed 1'", ASYNC));
    String second = location(alice.sql("select 'listed 2'", ASYNC));
    succeeded(first);
    succeeded(second);
    JsonNode newest = alice.get("/v1/jobs?limit=1").expect(200).json();
    assertEquals(
        second, "/v1/jobs/" + newest.path("jobs").path(0).path("token").asText(), newest::toString);
    JsonNode next =
        alice.get("/v1/jobs?limit=1&after=" + newest.path("next").asText()).expect(200).json();
    assertEquals(first, "/v1/jobs/" + next.path("jobs").path(0).path("token").asText());
    alice.delete(second).expect(204);
    alice.get(second).problem(404, "");
    alice.get(second + "/files/1").problem(404, "");
    alice.delete(second).problem(404, "");
    alice.get("/v1/jobs?limt=1").problem(400, "");
  }

  @Test
  void shouldHideJobsFromOthers() throws IOException {
    String location = location(alice.sql("select 'secret'", ASYNC));
    succeeded(location);
    HttpConnection bob = door.bob();
    bob.get(location + "/files/1").problem(404, "");
    bob.get(location).problem(404, "");
    bob.delete(location).problem(404, "");
    for (JsonNode job : bob.get("/v1/jobs").expect(200).json().path("jobs")) {
      assertEquals("bob", job.path("user").asText(), job::toString);
    }
    bob.get("/v1/jobs/../../users").problem(404, "");
    bob.get("/v1/jobs/" + "0".repeat(32)).problem(404, "");
    for (String trick : List.of("..%2f..%2fusers", "..", "%2e%2e/users", "a%00b", "users;x=1")) {
      HttpAnswer answer = door.bob().get("/v1/jobs/" + trick);
      assertTrue(answer.status() == 400 || answer.status() == 404, answer::toString);
    }
    succeeded(location);
  }

  @Test
  void shouldRunAJobWithinATransaction() throws IOException {
    String handle = alice.post("/v1/transactions").expect(201).handle();
    String first =
        location(alice.sql("insert into t values (1, 'x')", ASYNC, HttpConnection.in(handle)));
    succeeded(first);
    assertEquals("0", count());
    String last =
        location(alice.sql("insert into t values (2, 'x')", ASYNC, HttpConnection.ending(handle)));
    succeeded(last);
    assertEquals("2", count());
    assertEquals("committed", alice.get("/v1/transactions/" + handle).expect(200).state());
  }

  private HttpAnswer keyed(String key, String sql) throws IOException {
    return alice.sql(sql, "Idempotency-Key: \"" + key + "\"");
  }

  @Test
  void shouldRunAKeyedRequestOnce() throws IOException {
    String insert = "insert into t values (1, 'x') returning id";
    HttpAnswer first = keyed("once", insert).expect(200);
    HttpAnswer second = keyed("once", insert).expect(200);
    assertArrayEquals(first.body(), second.body());
    assertEquals(first.header("Content-Location"), second.header("Content-Location"));
    assertEquals("1", count());
    keyed("once", "insert into t values (2, 'x') returning id").problem(422, "");
    assertEquals("1", count());
    // A key is its user's.
    assertEquals("5", door.bob().sql("select 5", "Idempotency-Key: \"once\"").value());
    alice.sql("select 1", "Idempotency-Key: once").problem(400, "");
    alice.sql("select 1", "Idempotency-Key: \"" + "k".repeat(256) + "\"").problem(400, "");
  }

  /// A failure has had no effect, but is the answer to its key.
  @Test
  void shouldRepeatTheFailureOfAKeyedRequest() throws IOException {
    keyed("failed", "select 1 / (select count(*) from t)").problem(422, "22012");
    alice.sql("insert into t values (1, 'x')").expect(200);
    keyed("failed", "select 1 / (select count(*) from t)").problem(422, "22012");
  }

  @Test
  void shouldLetOneOfManyRequestsWithOneKeyTakeEffect() throws Exception {
    for (int round = 0; round < 5; round++) {
      String sql = "insert into t values (" + round + ", 'race')";
      String key = "Idempotency-Key: \"race " + round + "\"";
      List<Callable<String>> requests = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        requests.add(() -> {
          try (HttpConnection own =
              HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
            HttpAnswer answer = own.sql(sql, key).expect(200);
            return answer.header("Content-Location");
          }
        });
      }
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<String> jobs = new ArrayList<>();
        for (Future<String> one : threads.invokeAll(requests)) {
          jobs.add(one.get());
        }
        assertEquals(1, jobs.stream().distinct().count(), jobs::toString);
      }
      assertEquals(Integer.toString(round + 1), count());
    }
  }

  @Test
  void shouldKeepKeysOfTransactions() throws IOException {
    String key = "Idempotency-Key: \"begin\"";
    String handle = alice.post("/v1/transactions", key).expect(201).handle();
    assertEquals(handle, alice.post("/v1/transactions", key).expect(201).handle());
    alice.sql("insert into t values (1, 'x')", HttpConnection.in(handle)).expect(200);
    String end = "Idempotency-Key: \"end\"";
    for (int i = 0; i < 3; i++) {
      HttpAnswer ended = alice.sql("", HttpConnection.ending(handle), end).expect(204);
      assertEquals("committed", ended.state());
    }
    assertEquals("1", count());
  }

  @Test
  void shouldHaveResultsAndInterruptedJobsAfterARestart() throws IOException {
    String done = location(alice.sql(LONG, ASYNC, "Accept: text/csv"));
    byte[] before = whole(succeeded(done));
    String running = location(alice.sql("/* cut */ " + HttpFixture.ENDLESS, ASYNC));
    keyed("before", "insert into t values (9, 'x')").expect(200);
    try (Session watcher = door.endpoint().attach("alice")) {
      Await.until("the job runs", () -> HttpFixture.running(watcher, "cut") == 1);
    }
    door.endpoint().restart();
    alice = door.alice();
    JsonNode job = succeeded(done);
    assertArrayEquals(before, whole(job));
    assertEquals("interrupted", ended(running).path("state").asText());
    assertEquals(0, filesOf(running));
    keyed("before", "insert into t values (9, 'x')").expect(200);
    assertEquals("1", count());
    assertNotEquals("", job.path("transaction").asText());
  }
}
