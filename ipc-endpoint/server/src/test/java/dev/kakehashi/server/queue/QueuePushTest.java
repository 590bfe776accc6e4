package dev.kakehashi.server.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.HttpEndpoint;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Queues that push their tasks to a target.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class QueuePushTest {
  /// A request that has come to the target.
  private record Received(String path, java.util.Map<String, List<String>> fields, String body) {
    String field(String name) {
      return fields.getOrDefault(name, List.of("")).getFirst();
    }
  }

  /// Answer of the target.
  private record Answer(int status, String field, String value) {
    static Answer of(int status) {
      return new Answer(status, "", "");
    }
  }

  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile Function<Received, Answer> target = request -> Answer.of(204);
  private HttpServer server;
  private HttpEndpoint endpoint;
  private Session session;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          Received request =
              new Received(exchange.getRequestURI().getPath(), exchange.getRequestHeaders(), body);
          Answer answer = target.apply(request);
          received.add(request);
          if (!answer.field().isEmpty()) {
            exchange.getResponseHeaders().set(answer.field(), answer.value());
          }
          exchange.sendResponseHeaders(answer.status(), -1);
          exchange.close();
        });
    server.start();
    endpoint = HttpEndpoint.start("queue_push_targets", "127.0.0.0/8, localhost");
    session = endpoint.attach("alice");
  }

  @AfterEach
  void stop() throws Exception {
    session.close();
    endpoint.close();
    server.stop(0);
    threads.shutdownNow();
  }

  private String url(String host) {
    return "http://" + host + ":" + server.getAddress().getPort() + "/tasks";
  }

  private void queue(String options, String url) {
    session.execute("CREATE QUEUE mail" + (options.isEmpty() ? "" : " WITH (" + options + ")"));
    session.execute("ALTER QUEUE mail PUSH TO '" + url + "'");
  }

  private String enqueue(String payload) {
    return value("SELECT enqueue('mail', '" + payload + "'::jsonb)");
  }

  private String value(String sql) {
    try (PreparedStatement statement =
            session.prepare("SELECT x::text FROM (" + sql + ") AS t (x)");
        Rows rows = session.query(statement)) {
      assertTrue(rows.next(), sql);
      return String.valueOf(rows.getString(0));
    }
  }

  private Received next() throws InterruptedException {
    Received request = received.poll(60, TimeUnit.SECONDS);
    if (request == null) {
      throw new AssertionError("no request came");
    }
    return request;
  }

  private void awaitCount(String column, String count) {
    Await.until(
        column + " " + count,
        () ->
            value("SELECT " + column + " FROM kakehashi_catalog.queues WHERE queue_name = 'mail'")
                .equals(count));
  }

  @Test
  void shouldPushSignedTasksAndCompleteThem() throws Exception {
    queue("", url("127.0.0.1"));
    String number = enqueue("{\"to\": \"a\"}");
    Received request = next();
    assertEquals("/tasks", request.path());
    assertEquals("{\"to\": \"a\"}", request.body());
    assertEquals(number, request.field("Idempotency-key"));
    assertEquals(number, request.field("Kakehashi-task"));
    assertEquals("1", request.field("Kakehashi-attempt"));
    assertEquals("public.mail", request.field("Kakehashi-queue"));
    assertEquals("application/json", request.field("Content-type"));
    byte[] key =
        Files.readString(endpoint.dataDirectory().resolve("store/queues/push.key"))
            .strip()
            .getBytes(StandardCharsets.US_ASCII);
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    String signed = request.field("Kakehashi-timestamp") + "." + number + "." + request.body();
    assertEquals(
        "v1=" + HexFormat.of().formatHex(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8))),
        request.field("Kakehashi-signature"));
    awaitCount("done", "1");
  }

  @Test
  void shouldPushAgainUntilTheTaskIsDead() throws Exception {
    target = request -> Answer.of(500);
    queue("max_attempts = 3, min_backoff = '1ms', max_backoff = '2ms'", url("localhost"));
    enqueue("1");
    for (int attempt = 1; attempt <= 3; attempt++) {
      assertEquals(String.valueOf(attempt), next().field("Kakehashi-attempt"));
    }
    awaitCount("dead", "1");
    assertEquals(
        "the target answered 500",
        value("SELECT last_error FROM kakehashi_catalog.tasks WHERE queue_name = 'mail'"));
  }

  @Test
  void shouldNotFollowRedirects() throws Exception {
    target = request -> new Answer(302, "Location", url("127.0.0.1") + "/elsewhere");
    queue("max_attempts = 1", url("127.0.0.1"));
    enqueue("1");
    assertEquals("/tasks", next().path());
    awaitCount("dead", "1");
    assertEquals(0, received.size());
  }

  @Test
  void shouldGoSlowerWhereTheTargetAsksForIt() throws Exception {
    target =
        request ->
            request.field("Kakehashi-attempt").equals("1")
                ? new Answer(503, "Retry-After", "0")
                : Answer.of(200);
    queue("rate = '50/s', bucket_size = 1", url("127.0.0.1"));
    enqueue("1");
    assertEquals("1", next().field("Kakehashi-attempt"));
    Await.until(
        "a lower rate",
        () -> value("SELECT enforced_rate < rate FROM kakehashi_catalog.queues").equals("true"));
    assertEquals("2", next().field("Kakehashi-attempt"));
    awaitCount("done", "1");
  }

  @Test
  void shouldRefuseTargetsThatAreNotAllowed() {
    session.execute("CREATE QUEUE mail");
    for (String each :
        List.of("http://example.com/tasks", "http://10.1.2.3/", "ftp://localhost/")) {
      assertThrows(
          EndpointException.class,
          () -> session.execute("ALTER QUEUE mail PUSH TO '" + each + "'"));
    }
    enqueue("1");
    session.execute("ALTER QUEUE mail PUSH TO '" + url("127.0.0.1") + "'");
    awaitCount("done", "1");
    assertEquals(1, received.size());
  }

  @Test
  void shouldNotPushAgainWhatTheTargetWouldRefuseAgain() throws Exception {
    target = request -> Answer.of(request.field("Kakehashi-attempt").equals("1") ? 404 : 422);
    queue("min_backoff = '1ms', max_backoff = '2ms'", url("localhost"));
    enqueue("1");
    assertEquals("1", next().field("Kakehashi-attempt"));
    assertEquals("2", next().field("Kakehashi-attempt"));
    awaitCount("dead", "1");
    assertEquals(
        "the target answered 422",
        value("SELECT last_error FROM kakehashi_catalog.tasks WHERE queue_name = 'mail'"));
    assertEquals(0, received.size());
  }

  @Test
  void shouldEndPushesWithTheirQueue() throws Exception {
    queue("", url("127.0.0.1"));
    enqueue("1");
    next();
    awaitCount("done", "1");
    session.execute("ALTER QUEUE mail PUSH TO NONE");
    Await.until(
        "nobody waits", () -> value("SELECT waiting FROM kakehashi_catalog.queues").equals("0"));
    enqueue("2");
    assertEquals("1", value("SELECT ready FROM kakehashi_catalog.queues"));
  }
}
