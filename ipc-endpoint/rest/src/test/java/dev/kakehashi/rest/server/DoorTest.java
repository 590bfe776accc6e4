package dev.kakehashi.rest.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.ExchangeOutput;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class DoorTest {
  private static final int PIECES = 200;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HttpDoor door;
  private URI uri;

  @BeforeEach
  void open() throws IOException {
    Routes routes =
        Routes.builder()
            .add(
                Route.get("/v1/hello/{who}")
                    .parameters("times", "loud")
                    .handle(exchange ->
                        exchange
                            .answer()
                            .send(
                                200,
                                ContentType.TEXT,
                                ("hello "
                                        + exchange.request().variable("who")
                                        + " "
                                        + exchange.request().parameter("times", 1, 1, 9)
                                        + " by "
                                        + exchange.request().user().name())
                                    .getBytes(StandardCharsets.UTF_8))))
            .add(
                Route.post("/v1/echo")
                    .accepts("text/plain")
                    .maxBody(1000)
                    .handleDirectly(
                        (exchange, body) -> exchange.answer().send(200, ContentType.TEXT, body)))
            .add(
                Route.post("/v1/count")
                    .accepts("text/plain")
                    .maxBody(1000)
                    .handle(exchange ->
                        exchange
                            .answer()
                            .send(
                                200,
                                ContentType.TEXT,
                                String.valueOf(exchange.request().bodyBytes().length)
                                    .getBytes(StandardCharsets.UTF_8))))
            .add(
                Route.get("/v1/long")
                    .parameters("break")
                    .anonymous()
                    .handle(exchange -> {
                      try (ExchangeOutput out = exchange.answer().stream(200, ContentType.TEXT)) {
                        for (int i = 0; i < PIECES; i++) {
                          out.write(new byte[10_000]);
                          if (i == PIECES / 2 && exchange.request().parameter("break", false)) {
                            throw new IOException("broken on purpose");
                          }
                        }
                        out.finish();
                      }
                    }))
            .add(
                Route.get("/v1/fails/{n:int}")
                    .anonymous()
                    .handle(exchange -> {
                      if (exchange.request().intVariable("n") == 1) {
                        throw new EngineException(ErrorCode.UNIQUE_VIOLATION, "duplicate key value")
                            .withConstraint("t_pkey");
                      }
                      throw new IllegalStateException("secret");
                    }))
            .build();
    door = HttpDoor.start(HttpConfig.onLoopback(), routes, new FixedUsers());
    uri = door.uri(0);
  }

  @AfterEach
  void close() {
    door.close();
    client.close();
  }

  private HttpRequest.Builder as(String path) {
    String pair =
        Base64.getEncoder().encodeToString("alice:wonder".getBytes(StandardCharsets.UTF_8));
    return HttpRequest.newBuilder(uri.resolve(path)).header("Authorization", "Basic " + pair);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(as(path).build(), BodyHandlers.ofString());
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static void assertContains(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), text);
    }
  }

  @Test
  void shouldAnswerWithVariablesAndParameters() throws Exception {
    HttpResponse<String> answer = get("/v1/hello/w%C3%B6rld?times=3");

    assertEquals(200, answer.statusCode());
    assertEquals("hello wörld 3 by alice", answer.body());
  }

  @Test
  void shouldRefuseUnknownParametersWithTheNearest() throws Exception {
    HttpResponse<String> answer = get("/v1/hello/x?tims=3");

    assertEquals(400, answer.statusCode());
    assertEquals("application/problem+json", header(answer, "Content-Type"));
    assertContains(answer.body(), "tims", "Perhaps you meant \\\"times\\\".");
  }

  @Test
  void shouldTellOtherMethodsAndPaths() throws Exception {
    HttpResponse<String> other = client.send(as("/v1/echo").GET().build(), BodyHandlers.ofString());
    HttpResponse<String> options =
        client.send(
            as("/v1/hello/x").method("OPTIONS", BodyPublishers.noBody()).build(),
            BodyHandlers.ofString());

    assertEquals(405, other.statusCode());
    assertEquals("POST, OPTIONS", header(other, "Allow"));
    assertEquals(204, options.statusCode());
    assertEquals("GET, HEAD, OPTIONS", header(options, "Allow"));
    assertEquals(404, get("/v1/nothing").statusCode());
  }

  @Test
  void shouldAnswerHeadWithTheHeaderOfGet() throws Exception {
    HttpResponse<String> head =
        client.send(
            as("/v1/hello/x").method("HEAD", BodyPublishers.noBody()).build(),
            BodyHandlers.ofString());

    assertEquals(200, head.statusCode());
    assertEquals("", head.body());
    assertEquals(String.valueOf("hello x 1 by alice".length()), header(head, "Content-Length"));
  }

  @Test
  void shouldAnswerHeadOfAStreamWithoutIt() throws Exception {
    try (RawClient client = new RawClient(uri)) {
      client.request("HEAD /v1/long HTTP/1.1\r\n", "");
      assertEquals(200, client.answer(false).status());

      client.request("GET /v1/hello/x HTTP/1.1\r\n" + RawClient.ALICE, "");
      assertEquals("hello x 1 by alice", client.answer().text());
    }
  }

  @Test
  void shouldRefuseToStreamByHttp10() throws Exception {
    try (RawClient client = new RawClient(uri)) {
      client.request("GET /v1/long HTTP/1.0\r\n", "");
      assertEquals(505, client.answer().status());
    }
    try (RawClient client = new RawClient(uri)) {
      client.request("GET /v1/hello/x HTTP/1.0\r\n" + RawClient.ALICE, "");
      assertEquals("hello x 1 by alice", client.answer().text());
    }
  }

  @Test
  void shouldRefuseTooLongBodiesAnnouncedOrNot() throws Exception {
    for (String path : new String[] {"/v1/echo", "/v1/count"}) {
      byte[] body = new byte[1001];
      HttpResponse<String> announced =
          client.send(
              as(path)
                  .header("Content-Type", "text/plain")
                  .POST(BodyPublishers.ofByteArray(body))
                  .build(),
              BodyHandlers.ofString());
      HttpResponse<String> chunked =
          client.send(
              as(path)
                  .header("Content-Type", "text/plain")
                  .POST(BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(body)))
                  .build(),
              BodyHandlers.ofString());

      assertEquals(413, announced.statusCode());
      assertEquals(413, chunked.statusCode());
    }
  }

  @Test
  void shouldEchoAndCountBodies() throws Exception {
    for (String path : new String[] {"/v1/echo", "/v1/count"}) {
      HttpResponse<String> answer =
          client.send(
              as(path)
                  .header("Content-Type", "text/plain")
                  .POST(BodyPublishers.fromPublisher(BodyPublishers.ofString("a".repeat(1000))))
                  .build(),
              BodyHandlers.ofString());

      assertEquals(200, answer.statusCode());
      assertEquals(path.endsWith("echo") ? "a".repeat(1000) : "1000", answer.body());
    }
  }

  @Test
  void shouldRefuseOtherContentTypes() throws Exception {
    HttpResponse<String> answer =
        client.send(
            as("/v1/echo")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("a=b"))
                .build(),
            BodyHandlers.ofString());

    assertEquals(415, answer.statusCode());
    assertEquals("text/plain", header(answer, "Accept-Post"));
  }

  @Test
  void shouldTakeAContentTypeWithoutABody() throws Exception {
    for (HttpClient.Version version : HttpClient.Version.values()) {
      HttpResponse<String> answer =
          client.send(
              as("/v1/hello/x").version(version).header("Content-Type", "text/plain").build(),
              BodyHandlers.ofString());

      assertEquals(200, answer.statusCode(), answer.body());
    }
  }

  @Test
  void shouldEndStreamsWellOrBreakThem() throws Exception {
    HttpResponse<byte[]> whole = client.send(as("/v1/long").build(), BodyHandlers.ofByteArray());

    assertEquals(PIECES * 10_000, whole.body().length);
    assertThrows(
        IOException.class,
        () -> client.send(as("/v1/long?break=true").build(), BodyHandlers.ofByteArray()));
  }

  @Test
  void shouldMapFailuresOfTheEngineAndHideOwnOnes() throws Exception {
    HttpResponse<String> violation = get("/v1/fails/1");
    HttpResponse<String> bug = get("/v1/fails/2");

    assertEquals(422, violation.statusCode());
    assertContains(violation.body(), "\"sqlstate\":\"23505\"", "\"constraint\":\"t_pkey\"");
    assertEquals(500, bug.statusCode());
    assertContains(bug.body(), "\"id\":\"");
    assertFalse(bug.body().contains("secret") || bug.body().contains("Illegal"), bug.body());
  }

  @Test
  void shouldAskForAUser() throws Exception {
    HttpResponse<String> answer =
        client.send(
            HttpRequest.newBuilder(uri.resolve("/v1/hello/x")).build(), BodyHandlers.ofString());

    assertEquals(401, answer.statusCode());
    assertTrue(header(answer, "WWW-Authenticate").startsWith("Basic"));
  }
}
