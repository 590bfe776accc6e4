package dev.kakehashi.rest.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.ExchangeOutput;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.testsupport.Await;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Requests of clients that are broken, hostile or unlucky.
@Timeout(60)
final class BadLuckTest {
  private static final HttpLimits LIMITS =
      new HttpLimits(4096, 500, 300, 250, 3, 1_000, 1_000, 300, 700, 10);

  /// For what must not be ended by time.
  private static final HttpLimits PATIENT =
      new HttpLimits(4096, 30_000, 300, 250, 3, 30_000, 1_000, 30_000, 700, 10);

  private final AtomicInteger effects = new AtomicInteger();
  private final CountDownLatch streamEnded = new CountDownLatch(1);
  private final AtomicReference<Throwable> streamFailure = new AtomicReference<>();
  private final CountDownLatch released = new CountDownLatch(1);
  private final HttpDoor door = open(LIMITS);

  private HttpDoor open(HttpLimits limits) {
    Routes routes =
        Routes.builder()
            .add(
                Route.post("/v1/json")
                    .accepts("application/json")
                    .maxBody(2000)
                    .handleDirectly((exchange, body) -> {
                      String sql =
                          StrictJson.read(
                              body,
                              json -> {
                                String[] text = {""};
                                json.object(List.of("sql"), name -> text[0] = json.text());
                                return text[0];
                              });
                      effects.incrementAndGet();
                      exchange
                          .answer()
                          .send(200, ContentType.TEXT, sql.getBytes(StandardCharsets.UTF_8));
                    }))
            .add(
                Route.post("/v1/stream")
                    .accepts("application/json")
                    .maxBody(100_000)
                    .handle(exchange -> {
                      byte[] body = exchange.request().bodyBytes();
                      effects.incrementAndGet();
                      exchange.answer().send(200, ContentType.TEXT, body);
                    }))
            .add(
                Route.get("/v1/endless")
                    .handle(exchange -> endless(exchange.answer().stream(200, ContentType.TEXT))))
            .add(
                Route.get("/v1/held")
                    .handle(exchange -> {
                      released.await();
                      exchange.answer().send(204);
                    }))
            .add(
                Route.get("/v1/later")
                    .handleDirectly((exchange, body) -> {
                      exchange.waits();
                      Thread.ofVirtual()
                          .start(() -> {
                            awaitRelease();
                            exchange.answer().send(204);
                          });
                    }))
            .build();
    try {
      return HttpDoor.start(
          new HttpConfig(
              List.of(new HttpListener.Loopback(0)), limits, Set.of("kakehashi.example"), false),
          routes,
          new FixedUsers());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitRelease() {
    try {
      released.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void endless(ExchangeOutput out) throws IOException {
    try {
      while (true) {
        out.write(new byte[64 << 10]);
      }
    } catch (IOException e) {
      streamFailure.set(e);
      throw e;
    } finally {
      streamEnded.countDown();
    }
  }

  @AfterEach
  void close() {
    released.countDown();
    door.close();
  }

  private RawClient client() throws IOException {
    return new RawClient(door.uri(0));
  }

  private static String post(String path) {
    return "POST "
        + path
        + " HTTP/1.1\r\n"
        + RawClient.ALICE
        + "Content-Type: application/json\r\n";
  }

  private RawClient.Answer json(String body) throws IOException {
    try (RawClient client = client()) {
      return client.request(post("/v1/json"), body).answer();
    }
  }

  private static void assertProblem(int status, RawClient.Answer answer) {
    assertEquals(status, answer.status(), answer.text());
    assertEquals("application/problem+json", answer.header("Content-Type"));
    assertTrue(answer.text().contains("\"status\":" + status), answer.text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/json", "/v1/stream"})
  void shouldChangeNothingWhenABodyEndsEarly(String path) throws Exception {
    try (RawClient client = client()) {
      client.send(post(path) + "Host: localhost\r\nContent-Length: 100\r\n\r\n{\"sql\":");
      client.endSending();

      assertProblem(400, client.answer());
    }
    try (RawClient client = client()) {
      client.send(
          post(path) + "Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"sql\":");
      client.endSending();

      assertProblem(400, client.answer());
    }
    assertEquals(0, effects.get());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"sql\":}",
        "{\"sql\":\"a\"} x",
        "{\"sql\":\"a\",}",
        "{'sql':'a'}",
        "[]",
        "\"x\"",
        "{\"sql\":1}",
        "{\"sql\":null}",
        "{\"sql\":\"a\",\"sql\":\"b\"}",
        "{\"sql\":\"\\ud800\"}",
        "{\"sql\":\"a\u0000\"}",
        "{\"sql\":NaN}",
        " "
      })
  void shouldRefuseBrokenJson(String body) throws Exception {
    assertProblem(400, json(body));
    assertEquals(0, effects.get());
  }

  @Test
  void shouldRefuseUnknownMembersWithTheNearest() throws Exception {
    RawClient.Answer answer = json("{\"slq\":\"a\"}");

    assertProblem(400, answer);
    assertTrue(answer.text().contains("Perhaps you meant \\\"sql\\\"."), answer.text());
    assertTrue(answer.text().contains("\"pointer\":\"/slq\""), answer.text());
  }

  @Test
  void shouldRefuseDeepJson() throws Exception {
    assertProblem(400, json("{\"sql\":" + "[".repeat(900)));
  }

  @Test
  void shouldRefuseBodiesThatAreNoUtf8() throws Exception {
    byte[][] bodies = {
      {'{', '"', 's', 'q', 'l', '"', ':', '"', (byte) 0xC0, (byte) 0x80, '"', '}'},
      {'{', '"', 's', 'q', 'l', '"', ':', '"', (byte) 0xFF, '"', '}'},
      {'{', '"', 's', 'q', 'l', '"', ':', '"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"', '}'},
      "{\"sql\":\"a\"}".getBytes(StandardCharsets.UTF_16LE)
    };
    for (byte[] body : bodies) {
      try (RawClient client = client()) {
        client.send(
            post("/v1/json") + "Host: localhost\r\nContent-Length: " + body.length + "\r\n\r\n");
        client.send(body);

        assertProblem(400, client.answer());
      }
    }
    assertEquals(0, effects.get());
  }

  @Test
  void shouldRefuseAnOverlongHeader() throws Exception {
    try (RawClient client = client()) {
      client.request("GET /v1/held HTTP/1.1\r\nX-Long: " + "x".repeat(5000) + "\r\n", "");

      assertProblem(431, client.answer());
      assertTrue(client.isEnded());
    }
  }

  @Test
  void shouldRefuseAnOverlongRequestLine() throws Exception {
    try (RawClient client = client()) {
      client.request("GET /v1/" + "x".repeat(5000) + " HTTP/1.1\r\n", "");

      assertProblem(414, client.answer());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{\"sql",
        "Content-Length: 5,6\r\n\r\n{\"sql",
        "Content-Length: +5\r\n\r\n{\"sql",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\u000bchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"sqlXX0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n\r\n",
        "Host: localhost\r\n\r\n"
      })
  void shouldRefuseWhatCouldBeReadInTwoWays(String rest) throws Exception {
    // Here connections that could go on would go on for longer than the client waits.
    try (HttpDoor patient = open(PATIENT);
        RawClient client = new RawClient(patient.uri(0))) {
      client.send(post("/v1/json") + "Host: localhost\r\n" + rest);

      RawClient.Answer answer = client.answer();
      assertTrue(answer.status() >= 400 && answer.status() <= 501, "status " + answer.status());
      assertTrue(client.isEnded(), "a second request may hide behind");
    }
    assertEquals(0, effects.get());
  }

  @Test
  void shouldRefuseRequestsWithoutOrWithOtherHosts() throws Exception {
    try (RawClient client = client()) {
      assertProblem(400, client.send("GET /v1/held HTTP/1.1\r\n\r\n").answer());
    }
    for (String host : new String[] {"evil.example", "localhost.evil.example", "127.0.0.2"}) {
      try (RawClient client = client()) {
        client.send("GET /v1/held HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        assertProblem(421, client.answer());
      }
    }
    for (String host :
        new String[] {"localhost:1234", "127.0.0.1", "[::1]:1", "KAKEHASHI.example"}) {
      try (RawClient client = client()) {
        client.send("GET /nothing HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        assertProblem(404, client.answer());
      }
    }
  }

  @Test
  void shouldRefusePagesOfOtherSites() throws Exception {
    String[] refused = {
      "Origin: http://evil.example\r\n",
      "Origin: null\r\n",
      "Origin: https://localhost\r\n",
      "Sec-Fetch-Site: cross-site\r\n"
    };
    for (String field : refused) {
      try (RawClient client = client()) {
        assertProblem(403, client.request(post("/v1/json") + field, "{\"sql\":\"a\"}").answer());
      }
    }
    try (RawClient client = client()) {
      client.request(
          post("/v1/json") + "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n",
          "{\"sql\":\"a\"}");
      RawClient.Answer answer = client.answer();
      assertEquals(200, answer.status(), answer.text());
      assertEquals("", answer.header("Access-Control-Allow-Origin"));
    }
    assertEquals(1, effects.get());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/../v1/json",
        "/v1/%2e%2e/json",
        "/v1/json/%2f",
        "/v1//json",
        "/v1/json;a=b",
        "/v1/json%00",
        "/v1/%zz",
        "/v1/json/",
        "/V1/json",
        "/v1/%c0%ae"
      })
  void shouldNotFindTrickyPaths(String path) throws Exception {
    try (RawClient client = client()) {
      RawClient.Answer answer = client.request(post(path), "{\"sql\":\"a\"}").answer();

      assertTrue(answer.status() == 400 || answer.status() == 404, "status " + answer.status());
    }
    assertEquals(0, effects.get());
  }

  @Test
  void shouldEndHeadersThatComeTooSlowly() throws Exception {
    try (RawClient client = client()) {
      client.send("GET /v1/held HTTP/1.1\r\nHost: loc");
      long start = System.nanoTime();

      assertTrue(client.isEnded());
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/json", "/v1/stream"})
  void shouldRefuseBodiesThatComeTooSlowly(String path) throws Exception {
    try (RawClient client = client()) {
      client.send(post(path) + "Host: localhost\r\nContent-Length: 1000\r\n\r\n");
      RawClient.Answer answer = drip(client);

      assertProblem(408, answer);
    }
    assertEquals(0, effects.get());
  }

  /// A byte now and then, until there is an answer.
  private static RawClient.Answer drip(RawClient client) throws Exception {
    Thread sender =
        Thread.ofVirtual()
            .start(() -> {
              try {
                for (int i = 0; i < 900; i++) {
                  client.send(" ");
                  Thread.sleep(20);
                }
              } catch (IOException | InterruptedException e) {
                // The door has ended it.
                return;
              }
            });
    RawClient.Answer answer = client.answer();
    sender.interrupt();
    sender.join();
    return answer;
  }

  @Test
  void shouldRefuseBodiesThatStop() throws Exception {
    try (RawClient client = client()) {
      client.send(post("/v1/json") + "Host: localhost\r\nContent-Length: 1000\r\n\r\n{");

      assertProblem(408, client.answer());
    }
  }

  @Test
  void shouldEndAnswersThatNobodyReads() throws Exception {
    try (RawClient client = client()) {
      client.request("GET /v1/endless HTTP/1.1\r\n" + RawClient.ALICE, "");

      assertTrue(streamEnded.await(20, TimeUnit.SECONDS));
      assertTrue(streamFailure.get() instanceof IOException, String.valueOf(streamFailure.get()));
      assertThrows(EOFException.class, client::answer);
    }
  }

  @Test
  void shouldServeBesideIdleConnectionsAndRefuseTooMany() throws Exception {
    List<RawClient> idle = new ArrayList<>();
    try (HttpDoor patient = open(PATIENT)) {
      for (int i = 0; i < 250; i++) {
        idle.add(new RawClient(patient.uri(0)));
      }
      RawClient last = idle.getLast();
      assertEquals(200, last.request(post("/v1/json"), "{\"sql\":\"a\"}").answer().status());
      for (int i = 0; i < 5; i++) {
        RawClient more = new RawClient(patient.uri(0));
        idle.add(more);
        assertTrue(more.isEnded(), "more than 250 from one address");
      }
      assertEquals(5, patient.gate().refused());
      idle.getFirst().close();
      Await.until("connections are closed", () -> patient.gate().open() < 250);
      try (RawClient next = new RawClient(patient.uri(0))) {
        assertEquals(200, next.request(post("/v1/json"), "{\"sql\":\"a\"}").answer().status());
      }
    } finally {
      for (RawClient client : idle) {
        client.close();
      }
    }
  }

  @Test
  void shouldEndIdleConnections() throws Exception {
    try (RawClient client = client()) {
      assertTrue(client.isEnded());
    }
  }

  @Test
  void shouldRefuseTooManyRequestsOfAUser() throws Exception {
    List<RawClient> held = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        RawClient client = client();
        held.add(client);
        client.request("GET /v1/held HTTP/1.1\r\n" + RawClient.ALICE, "");
      }
      Await.until("three requests run", () -> door.running().running() == 3);

      RawClient.Answer refused = json("{\"sql\":\"a\"}");
      assertProblem(429, refused);
      assertEquals("1", refused.header("Retry-After"));
      try (RawClient client = client()) {
        String head = post("/v1/json").replace(RawClient.ALICE, RawClient.basic("bob", "builder"));
        assertEquals(200, client.request(head, "{\"sql\":\"a\"}").answer().status());
      }
    } finally {
      for (RawClient client : held) {
        client.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/held", "/v1/later"})
  void shouldLetRequestsTakeLongerThanIdleConnectionsMay(String path) throws Exception {
    HttpClient http2 = HttpClient.newHttpClient();
    try (RawClient client = client()) {
      client.request("GET " + path + " HTTP/1.1\r\n" + RawClient.ALICE, "");
      String[] field = RawClient.ALICE.strip().split(": ", 2);
      HttpRequest request =
          HttpRequest.newBuilder(door.uri(0).resolve(path)).header(field[0], field[1]).build();
      CompletableFuture<HttpResponse<String>> answer =
          http2.sendAsync(request, BodyHandlers.ofString());
      Await.until("two requests run", () -> door.running().running() == 2);
      long start = System.nanoTime();
      Await.until(
          "a second and a half passes",
          () -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(1_500));
      released.countDown();

      assertEquals(204, client.answer().status());
      assertEquals(204, answer.get().statusCode());
      assertEquals(HttpClient.Version.HTTP_2, answer.get().version());
    } finally {
      http2.shutdownNow();
    }
  }

  @Test
  void shouldAnswerPipelinedRequestsInOrder() throws Exception {
    try (RawClient client = client()) {
      String one =
          post("/v1/json") + "Host: localhost\r\nContent-Length: 11\r\n\r\n{\"sql\":\"1\"}";
      client.send(one + one.replace("\"1\"", "\"2\"") + one.replace("\"1\"", "\"3\""));

      assertEquals("1", client.answer().text());
      assertEquals("2", client.answer().text());
      assertEquals("3", client.answer().text());
    }
  }

  @Test
  void shouldRefuseABodyBeforeItIsSent() throws Exception {
    String head = post("/v1/json") + "Host: localhost\r\nExpect: 100-continue\r\n";
    try (RawClient client = client()) {
      assertProblem(413, client.send(head + "Content-Length: 2001\r\n\r\n").answer());
    }
    try (RawClient client = client()) {
      assertEquals(100, client.send(head + "Content-Length: 11\r\n\r\n").answer().status());
      assertEquals("1", client.send("{\"sql\":\"1\"}").answer().text());
    }
  }

  @Test
  void shouldRefuseALargeBodySoThatTheClientSeesWhy() throws Exception {
    try (RawClient client = client()) {
      client.send(post("/v1/json") + "Host: localhost\r\nContent-Length: 200000\r\n\r\n");
      client.send(new byte[200_000]);

      assertProblem(413, client.answer());
    }
  }

  @Test
  void shouldNotTellItsVersion() throws Exception {
    RawClient.Answer answer = json("{\"sql\":\"a\"}");

    assertEquals("kakehashi", answer.header("Server"));
    assertFalse(answer.header("Date").isEmpty());
  }

  @Test
  void shouldLetRequestsEndWhenItCloses() throws Exception {
    try (RawClient client = client()) {
      client.request("GET /v1/held HTTP/1.1\r\n" + RawClient.ALICE, "");
      Await.until("one request runs", () -> door.running().running() == 1);
      URI uri = door.uri(0);
      long start = System.nanoTime();
      door.close();

      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertTrue(millis >= 600 && millis < 10_000, millis + " ms");
      assertTrue(client.isEnded());
      assertThrows(IOException.class, () -> new RawClient(uri));
    }
  }
}
