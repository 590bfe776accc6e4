package dev.kakehashi.rest.job.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.job.JobContext;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.job.TestJobs;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.rest.server.FixedUsers;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpDoor;
import dev.kakehashi.rest.server.HttpLimits;
import dev.kakehashi.rest.server.HttpListener;
import dev.kakehashi.rest.server.RawClient;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class JobRoutesTest {
  private static final byte[] CONTENT = new byte[700_001];

  static {
    new Random(1).nextBytes(CONTENT);
  }

  @TempDir Path directory;

  private TestJobs test;
  private HttpDoor door;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AtomicInteger begun = new AtomicInteger();

  @BeforeEach
  void open() throws IOException {
    test = new TestJobs(directory);
    JobRoutes routes = new JobRoutes(test.jobs, new FixedUsers());
    IdempotentPosts posts = new IdempotentPosts(test.jobs);
    Route begin =
        Route.post("/v1/test")
            .accepts("application/json")
            .handle(exchange -> {
              byte[] body = exchange.request().bodyBytes();
              posts.answer(
                  exchange,
                  body,
                  false,
                  () -> {
                    if (body.length == 3) {
                      throw new EngineException(ErrorCode.SYNTAX_ERROR, "three bytes are none");
                    }
                    byte[] answer =
                        ("[" + begun.incrementAndGet() + "]").getBytes(StandardCharsets.UTF_8);
                    return new StoredAnswer(
                        201,
                        List.of(new StoredAnswer.Header("Location", "/v1/x")),
                        ContentType.JSON.value(),
                        answer);
                  });
            });
    door =
        HttpDoor.start(
            HttpConfig.onLoopback(),
            Routes.builder().addAll(routes.routes()).add(begin).build(),
            new FixedUsers());
  }

  @AfterEach
  void close() throws IOException {
    door.close();
    test.close();
    client.close();
  }

  private HttpRequest.Builder as(String user, String path) {
    String password = user.equals("alice") ? "wonder" : user.equals("bob") ? "builder" : "watch";
    String pair =
        Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    return HttpRequest.newBuilder(door.uri(0).resolve(path))
        .header("Authorization", "Basic " + pair);
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private HttpResponse<byte[]> fetch(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  private static HttpRequest.Builder post(HttpRequest.Builder request) {
    return request.POST(HttpRequest.BodyPublishers.noBody());
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static void assertContains(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), text);
    }
  }

  private String file() {
    JobRecord job = test.run("alice", TestJobs.writes(CONTENT));
    return "/v1/jobs/" + job.token() + "/files/1";
  }

  @Test
  void shouldShowAJobWithItsFiles() throws Exception {
    JobRecord job = test.run("alice", TestJobs.writes("a,b"));

    HttpResponse<String> answer = send(as("alice", "/v1/jobs/" + job.token()));

    assertEquals(200, answer.statusCode());
    assertEquals("application/json", header(answer, "Content-Type"));
    assertContains(
        answer.body(),
        "\"state\":\"succeeded\"",
        "\"rows\":3",
        "\"href\":\"/v1/jobs/" + job.token() + "/files/1\"",
        "\"mediaType\":\"text/csv\"",
        "\"created\":\"2027-01-15T08:00:00Z\"",
        "\"expires\":\"2027-01-15T08:10:00Z\"");
  }

  @Test
  void shouldShowWhyAJobHasFailed() throws Exception {
    JobRecord job =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                throw new EngineException(ErrorCode.UNIQUE_VIOLATION, "duplicate key value")
                    .withConstraint("t_pkey");
              }
            });

    HttpResponse<String> answer = send(as("alice", "/v1/jobs/" + job.token()));

    assertContains(
        answer.body(),
        "\"state\":\"failed\"",
        "\"sqlstate\":\"23505\"",
        "\"constraint\":\"t_pkey\"",
        "\"files\":[]");
  }

  @Test
  void shouldAnswerALongPollWhenTheJobEnds() throws Exception {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select", work);
    work.awaitBegin();
    CompletableFuture<HttpResponse<String>> poll =
        client.sendAsync(
            as("alice", "/v1/jobs/" + job.token() + "?wait=100").build(), BodyHandlers.ofString());
    HttpResponse<String> short_ = send(as("alice", "/v1/jobs/" + job.token() + "?wait=1"));
    assertContains(short_.body(), "\"state\":\"running\"");
    assertEquals("1", header(short_, "Retry-After"));
    assertFalse(poll.isDone());

    work.finish();

    assertContains(poll.get().body(), "\"state\":\"succeeded\"");
  }

  @Test
  void shouldAnswerLongPollsWhenTheJobsClose() throws Exception {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select", work);
    work.awaitBegin();
    CompletableFuture<HttpResponse<String>> poll =
        client.sendAsync(
            as("alice", "/v1/jobs/" + job.token() + "?wait=120").build(), BodyHandlers.ofString());
    send(as("alice", "/v1/jobs/" + job.token()));

    test.close();

    assertContains(poll.get().body(), "\"state\":\"interrupted\"");
  }

  @Test
  void shouldRefuseWrongWaitsAndParameters() throws Exception {
    String path = "/v1/jobs/" + test.run("alice", TestJobs.writes("1")).token();

    assertEquals(400, send(as("alice", path + "?wait=121")).statusCode());
    assertEquals(400, send(as("alice", path + "?wait=-1")).statusCode());
    assertContains(send(as("alice", path + "?wiat=1")).body(), "Perhaps you meant");
    assertEquals(400, send(as("alice", "/v1/jobs?limit=0")).statusCode());
    assertEquals(400, send(as("alice", "/v1/jobs?after=x")).statusCode());
  }

  @Test
  void shouldHideOthersJobsAndShowThemToMonitors() throws Exception {
    JobRecord job = test.run("alice", TestJobs.writes("1"));
    String path = "/v1/jobs/" + job.token();

    for (String hidden : List.of(path, path + "/files/1")) {
      assertEquals(404, send(as("bob", hidden)).statusCode());
      assertEquals(
          send(as("bob", "/v1/jobs/" + "0".repeat(32))).body().replaceAll("\"job\".*", ""),
          send(as("bob", hidden)).body().replaceAll("\"job\".*", ""));
    }
    assertEquals(404, send(post(as("bob", path + "/cancel"))).statusCode());
    assertEquals(404, send(as("bob", path).DELETE()).statusCode());
    assertContains(send(as("bob", "/v1/jobs")).body(), "{\"jobs\":[]}");
    assertContains(send(as("watch", "/v1/jobs")).body(), job.token());
    HttpResponse<String> monitored = send(as("watch", path));
    assertContains(monitored.body(), "\"user\":\"alice\"");
    assertFalse(monitored.body().contains("href"), monitored.body());
    assertEquals(404, send(as("watch", path + "/files/1")).statusCode());
    assertEquals(404, send(as("watch", path).DELETE()).statusCode());
  }

  @Test
  void shouldRefuseTricksInTokens() throws Exception {
    for (String token :
        List.of(
            "..", "%2e%2e", "..%2f..%2fjournal", "%00", "a".repeat(65), "A".repeat(32), "a%20b")) {
      int status = send(as("alice", "/v1/jobs/" + token + "/files/1")).statusCode();
      assertTrue(status == 404 || status == 400, token + " " + status);
    }
  }

  @Test
  void shouldCancelAndDelete() throws Exception {
    TestJobs.Waiting work = new TestJobs.Waiting();
    JobRecord job = test.jobs.submit("alice", "select", work);
    work.awaitBegin();
    String path = "/v1/jobs/" + job.token();

    HttpResponse<String> canceled = send(post(as("alice", path + "/cancel")));
    assertTrue(canceled.statusCode() == 202 || canceled.statusCode() == 200);
    assertEquals(path, header(canceled, "Location"));
    assertContains(send(as("alice", path + "?wait=100")).body(), "\"state\":\"canceled\"");
    assertEquals(200, send(post(as("alice", path + "/cancel"))).statusCode());
    assertEquals(204, send(as("alice", path).DELETE()).statusCode());
    assertEquals(404, send(as("alice", path).DELETE()).statusCode());
    assertEquals(404, send(as("alice", path)).statusCode());
  }

  @Test
  void shouldKeepTheAnswerOfACancelHoweverManyFilesThereAre() throws Exception {
    JobRecord job =
        test.await(
            test.jobs.submit(
                "alice",
                "\u0001".repeat(1000),
                new TestJobs.Simple() {
                  @Override
                  public void run(JobContext context) {
                    for (int i = 0; i < 100; i++) {
                      context.open("text/csv", "", "csv").publish();
                    }
                  }
                }));
    HttpRequest.Builder cancel =
        post(as("alice", "/v1/jobs/" + job.token() + "/cancel")).header("Idempotency-Key", "\"c\"");

    HttpResponse<String> first = send(cancel);
    HttpResponse<String> second = send(cancel);

    assertEquals(200, first.statusCode());
    assertEquals(first.body(), second.body());
    assertTrue(first.body().length() > 2_400, first.body());
  }

  @Test
  void shouldListByPages() throws Exception {
    for (int i = 0; i < 3; i++) {
      test.run("alice", TestJobs.writes("1"));
    }

    HttpResponse<String> first = send(as("alice", "/v1/jobs?limit=2"));
    String link = header(first, "Link");
    String next = link.substring(1, link.indexOf('>'));
    HttpResponse<String> second = send(as("alice", next));

    assertTrue(link.endsWith("; rel=\"next\""), link);
    assertEquals(2, first.body().split("\"token\":", -1).length - 1);
    assertEquals(1, second.body().split("\"token\":", -1).length - 1);
    assertEquals("", header(second, "Link"));
  }

  @Test
  void shouldSendAFileWhole() throws Exception {
    String path = file();

    HttpResponse<byte[]> get = fetch(as("alice", path));
    HttpResponse<byte[]> head =
        fetch(as("alice", path).method("HEAD", HttpRequest.BodyPublishers.noBody()));

    assertEquals(200, get.statusCode());
    assertArrayEquals(CONTENT, get.body());
    assertEquals("text/csv", header(get, "Content-Type"));
    assertEquals("bytes", header(get, "Accept-Ranges"));
    assertEquals("attachment; filename=\"result-1.csv\"", header(get, "Content-Disposition"));
    assertEquals(
        "sha-256=:"
            + Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest(CONTENT))
            + ":",
        header(get, "Repr-Digest"));
    assertEquals(200, head.statusCode());
    assertEquals(0, head.body().length);
    for (String name :
        List.of("Content-Length", "ETag", "Repr-Digest", "Last-Modified", "Content-Type")) {
      assertEquals(header(get, name), header(head, name), name);
    }
  }

  @Test
  void shouldSendAFileOverHttp2() throws Exception {
    String path = file();
    try (HttpClient two = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
      HttpResponse<byte[]> whole = two.send(as("alice", path).build(), BodyHandlers.ofByteArray());
      HttpResponse<byte[]> range =
          two.send(
              as("alice", path).header("Range", "bytes=5-300000").build(),
              BodyHandlers.ofByteArray());

      assertEquals(HttpClient.Version.HTTP_2, range.version());
      assertArrayEquals(CONTENT, whole.body());
      assertEquals(206, range.statusCode());
      assertArrayEquals(Arrays.copyOfRange(CONTENT, 5, 300_001), range.body());
    }
  }

  /// A reader that has stopped does not keep a file for ever.
  @Test
  void shouldLetGoOfAFileWhoseReaderHasStopped() throws Exception {
    test.restart(TestJobs.settings(100, 4, 200L << 20));
    HttpLimits d = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(d.headerBytes(), d.headerMillis(), 100, 100, 100, 300, 0, 0, 1_000, 100);
    JobRoutes routes = new JobRoutes(test.jobs, new FixedUsers());
    JobRecord job = test.run("alice", TestJobs.writes(new byte[100 << 20]));
    HttpConfig config =
        new HttpConfig(List.of(new HttpListener.Loopback(0)), limits, Set.of(), false);
    Routes all = Routes.builder().addAll(routes.routes()).build();
    try (HttpDoor impatient = HttpDoor.start(config, all, new FixedUsers());
        RawClient reader = new RawClient(impatient.uri(0))) {
      reader.send(
          "GET /v1/jobs/"
              + job.token()
              + "/files/1 HTTP/1.1\r\nHost: localhost\r\n"
              + RawClient.ALICE
              + "\r\n");
      assertEquals('H', reader.input().read());
      assertTrue(test.jobs.delete(TestJobs.ALICE, job.token()));
      assertEquals(100 << 20, test.jobs.usedBytes());

      Await.until("the files are gone", () -> test.jobs.usedBytes() == 0);
    }
  }

  @Test
  void shouldAssembleAFileOfRandomRanges() throws Exception {
    String path = file();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] assembled = new byte[CONTENT.length];
    int at = 0;
    while (at < CONTENT.length) {
      int length = Math.min(1 + random.nextInt(1 << random.nextInt(1, 18)), CONTENT.length - at);
      HttpResponse<byte[]> part =
          fetch(as("alice", path).header("Range", "bytes=" + at + "-" + (at + length - 1)));
      assertEquals(206, part.statusCode(), "seed " + seed);
      assertEquals(
          "bytes " + at + "-" + (at + length - 1) + "/" + CONTENT.length,
          header(part, "Content-Range"));
      assertEquals(length, part.body().length);
      System.arraycopy(part.body(), 0, assembled, at, length);
      at += length;
    }

    assertArrayEquals(CONTENT, assembled, "seed " + seed);
  }

  @Test
  void shouldSendSeveralRangesAsParts() throws Exception {
    HttpResponse<byte[]> answer = fetch(as("alice", file()).header("Range", "bytes=100-199,-50"));

    assertEquals(206, answer.statusCode());
    String type = header(answer, "Content-Type");
    assertTrue(type.startsWith("multipart/byteranges; boundary="), type);
    String boundary = type.substring(type.indexOf('=') + 1);
    String body = new String(answer.body(), StandardCharsets.ISO_8859_1);
    String first = part(body, boundary, 1);
    String second = part(body, boundary, 2);
    assertContains(first, "Content-Range: bytes 100-199/700001\r\n", "Content-Type: text/csv\r\n");
    assertContains(second, "Content-Range: bytes 699951-700000/700001\r\n");
    assertArrayEquals(Arrays.copyOfRange(CONTENT, 100, 200), content(first));
    assertArrayEquals(Arrays.copyOfRange(CONTENT, 699_951, 700_001), content(second));
    assertTrue(body.endsWith("\r\n--" + boundary + "--\r\n"));
  }

  private static String part(String body, String boundary, int number) {
    return body.split("\r\n--" + boundary, -1)[number];
  }

  private static byte[] content(String part) {
    return part.substring(part.indexOf("\r\n\r\n") + 4).getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void shouldRefuseRangesBeyondTheFile() throws Exception {
    HttpResponse<String> answer = send(as("alice", file()).header("Range", "bytes=700001-"));

    assertEquals(416, answer.statusCode());
    assertEquals("", header(answer, "Repr-Digest"));
    assertEquals("bytes */700001", header(answer, "Content-Range"));
  }

  @Test
  void shouldHeedConditions() throws Exception {
    String path = file();
    HttpResponse<byte[]> get = fetch(as("alice", path));
    String tag = header(get, "ETag");
    String date = header(get, "Last-Modified");

    assertEquals(
        304, fetch(as("alice", path).header("If-None-Match", "\"x\", W/" + tag)).statusCode());
    assertEquals(200, fetch(as("alice", path).header("If-None-Match", "\"x\"")).statusCode());
    assertEquals(304, fetch(as("alice", path).header("If-Modified-Since", date)).statusCode());
    assertEquals(
        200,
        fetch(as("alice", path).header("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"))
            .statusCode());
    assertEquals(412, fetch(as("alice", path).header("If-Match", "\"x\"")).statusCode());
    assertEquals(200, fetch(as("alice", path).header("If-Match", tag)).statusCode());
    for (String same : List.of(tag, date)) {
      assertEquals(
          206,
          fetch(as("alice", path).header("Range", "bytes=0-1").header("If-Range", same))
              .statusCode());
    }
    for (String other : List.of("\"x\"", "W/" + tag, "Thu, 01 Jan 1970 00:00:00 GMT", "never")) {
      assertEquals(
          200,
          fetch(as("alice", path).header("Range", "bytes=0-1").header("If-Range", other))
              .statusCode(),
          other);
    }
  }

  @Test
  void shouldSayThatAResultHasGone() throws Exception {
    JobRecord job =
        test.await(
            test.jobs
                .submit("alice", "x", TestJobs.writes("1"), TestJobs.key("alice", "k", "x"))
                .job());
    test.pass(Duration.ofMinutes(11));
    test.sweep();

    assertEquals(410, send(as("alice", "/v1/jobs/" + job.token() + "/files/1")).statusCode());
    assertEquals(404, send(as("alice", file().replace("files/1", "files/2"))).statusCode());
  }

  @Test
  void shouldSendAKeptAnswerAsAFile() throws Exception {
    JobRecord job =
        test.run(
            "alice",
            new TestJobs.Simple() {
              @Override
              public void run(JobContext context) {
                context.answer(
                    new StoredAnswer(200, List.of(), "application/json", new byte[] {'[', ']'}));
              }
            });
    String path = "/v1/jobs/" + job.token() + "/files/1";

    assertContains(send(as("alice", "/v1/jobs/" + job.token())).body(), path);
    HttpResponse<String> answer = send(as("alice", path));
    assertEquals("[]", answer.body());
    assertEquals(
        304, send(as("alice", path).header("If-None-Match", header(answer, "ETag"))).statusCode());
  }

  private HttpResponse<String> begin(String key, String body) throws Exception {
    return send(
        as("alice", "/v1/test")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  @Test
  void shouldAnswerTheSameUnderTheSameKey() throws Exception {
    HttpResponse<String> first = begin("\"a \\\"key\\\"\"", "{}");
    HttpResponse<String> second = begin("\"a \\\"key\\\"\"", "{}");

    assertEquals(201, second.statusCode());
    assertEquals("[1]", first.body());
    assertEquals("[1]", second.body());
    assertEquals("/v1/x", header(second, "Location"));
    assertEquals(1, begun.get());
    HttpResponse<String> other = begin("\"a \\\"key\\\"\"", "[]");
    assertEquals(422, other.statusCode());
    assertContains(other.body(), "other-request");
    // A failed request has had no effect, and its key is free.
    assertEquals(400, begin("\"failed\"", "[1]").statusCode());
    assertEquals(201, begin("\"failed\"", "[]").statusCode());
  }

  @Test
  void shouldRefuseWhatIsNoKey() throws Exception {
    for (String wrong :
        List.of(
            "abc",
            "\"\"",
            "\"abc",
            "abc\"",
            "\"a\\b\"",
            "\"a\";p=1",
            "\"a\", \"b\"",
            "\"" + "k".repeat(256) + "\"")) {
      assertEquals(400, begin(wrong, "{}").statusCode(), wrong);
    }
    assertEquals(201, begin("\"" + "k".repeat(255) + "\"", "{}").statusCode());
    assertEquals(1, begun.get());
  }

  @Test
  void shouldAnswerOnceForRequestsAtOnce() throws Exception {
    int count = 20;
    List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
    URI uri = door.uri(0).resolve("/v1/test");
    for (int i = 0; i < count; i++) {
      calls.add(
          client.sendAsync(
              as("alice", uri.getPath())
                  .header("Content-Type", "application/json")
                  .header("Idempotency-Key", "\"race\"")
                  .POST(HttpRequest.BodyPublishers.ofString("{}"))
                  .build(),
              BodyHandlers.ofString()));
    }

    for (CompletableFuture<HttpResponse<String>> call : calls) {
      int status = call.get().statusCode();
      assertTrue(status == 201 || status == 409, "status " + status);
    }
    assertEquals(1, begun.get());
  }
}
