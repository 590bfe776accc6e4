package dev.kakehashi.rest.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.rest.login.LoginLimits;
import dev.kakehashi.rest.monitor.MetricsWriter;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.RestApplication;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The routes that each door has, and those of an application.
final class StandardRoutesTest {
  private static final long SCRAPE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int MOST_SCRAPES = 500;
  private volatile String obstacle = "";
  private final FixedUsers users = new FixedUsers();
  private final HttpDoor door = open(HttpConfig.onLoopback());

  private HttpDoor open(HttpConfig config) {
    try {
      return HttpDoor.start(
          config,
          new DoorContent(
              users,
              LoginLimits.DEFAULT,
              List.of(),
              List.of(new Orders()),
              List.of(StandardRoutesTest::write),
              () -> obstacle,
              "1.2.3",
              Map.of("statementBytes", 1_000_000L)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void write(MetricsWriter writer) {
    writer
        .gauge("kakehashi_sessions", "Open \"sessions\"\nof all.")
        .sample(7, "user", "a\"b\\c\nd");
    writer.counter("kakehashi_many", "Too many.");
    for (int i = 0; i < MetricsWriter.MAX_SAMPLES + 5; i++) {
      writer.sample(i, "number", String.valueOf(i));
    }
  }

  /// An application as somebody else would write one.
  private static final class Orders implements RestApplication {
    @Override
    public String name() {
      return "orders";
    }

    @Override
    public List<Route> routes() {
      return List.of(
          Route.get("/{n:int}")
              .parameters("unit")
              .handle(exchange ->
                  exchange
                      .answer()
                      .send(
                          200,
                          ContentType.TEXT,
                          (exchange.request().user().name()
                                  + " asks for "
                                  + exchange.request().intVariable("n"))
                              .getBytes(StandardCharsets.UTF_8))));
    }
  }

  @AfterEach
  void close() {
    door.close();
  }

  private static RawClient.Answer ask(HttpDoor door, String method, String path, String fields)
      throws IOException {
    try (RawClient client = new RawClient(door.uri(0))) {
      return client.request(method + " " + path + " HTTP/1.1\r\n" + fields, "").answer();
    }
  }

  private RawClient.Answer get(String path, String fields) throws IOException {
    return ask(door, "GET", path, fields);
  }

  @Test
  void shouldGiveATokenForAPasswordAndEndIt() throws Exception {
    RawClient.Answer login = ask(door, "POST", "/v1/login", RawClient.ALICE);
    assertEquals(200, login.status(), login.text());
    assertEquals("no-store", login.header("Cache-Control"));
    Matcher token = Pattern.compile("\"token\":\"([^\"]+)\"").matcher(login.text());
    assertTrue(token.find(), login.text());
    String bearer = "Authorization: Bearer " + token.group(1) + "\r\n";

    int verified = users.verifications.get();
    assertEquals("alice asks for 5", get("/v1/apps/orders/5", bearer).text());
    assertEquals(verified, users.verifications.get());
    assertEquals(403, ask(door, "POST", "/v1/login", bearer).status());
    assertEquals(204, ask(door, "DELETE", "/v1/login", bearer).status());
    assertEquals(401, get("/v1/apps/orders/5", bearer).status());
  }

  @Test
  void shouldNotVerifyThePasswordOfEachRequest() throws Exception {
    for (int i = 0; i < 5; i++) {
      assertEquals(200, get("/v1/apps/orders/1", RawClient.ALICE).status());
    }
    assertEquals(1, users.verifications.get());
  }

  @Test
  void shouldServeRoutesOfApplicationsLikeItsOwn() throws Exception {
    assertEquals(404, get("/v1/apps/orders/x", RawClient.ALICE).status());
    assertEquals(404, get("/v1/apps/others/1", RawClient.ALICE).status());
    assertEquals(401, get("/v1/apps/orders/1", "").status());
    assertTrue(get("/v1/apps/orders/1?unti=kg", RawClient.ALICE).text().contains("unit"));
  }

  @Test
  void shouldTellEverybodyHowItIs() throws Exception {
    assertEquals("{\"status\":\"live\"}", get("/health/live", "").text());
    assertEquals("{\"status\":\"ready\"}", get("/health/ready", "").text());

    obstacle = "the log is being recovered";
    RawClient.Answer answer = get("/health/ready", "");
    assertEquals(503, answer.status());
    assertTrue(answer.text().contains(obstacle), answer.text());
    assertEquals(200, get("/health/live", "").status());
  }

  @Test
  void shouldTellItsLimits() throws Exception {
    RawClient.Answer answer = get("/v1", RawClient.ALICE);

    assertTrue(answer.text().contains("\"version\":\"1.2.3\""), answer.text());
    assertTrue(answer.text().contains("\"statementBytes\":1000000"), answer.text());
    assertTrue(answer.text().contains("\"headerBytes\":16384"), answer.text());
  }

  @Test
  void shouldGiveTheDocumentOnlyWhenItIsAnother() throws Exception {
    RawClient.Answer document = get("/v1/openapi.json", RawClient.ALICE);
    String same = "If-None-Match: " + document.header("ETag") + "\r\n";

    assertTrue(document.text().startsWith("{\"openapi\":\"3.1.0\""), document.text());
    assertEquals(304, get("/v1/openapi.json", RawClient.ALICE + same).status());
  }

  @Test
  void shouldShowMetricsToMonitorsOnlyUnlessOpened() throws Exception {
    RawClient.Answer refused = get("/metrics", RawClient.ALICE);
    assertEquals(403, refused.status());
    assertTrue(refused.text().contains("42501"), refused.text());
    assertEquals(401, get("/metrics", "").status());
    assertEquals(200, get("/metrics", RawClient.basic("watch", "watch")).status());

    HttpConfig opened =
        new HttpConfig(List.of(new HttpListener.Loopback(0)), HttpLimits.DEFAULT, Set.of(), true);
    try (HttpDoor other = open(opened)) {
      assertEquals(200, ask(other, "GET", "/metrics", "").status());
    }
  }

  @Test
  void shouldWriteMetricsByTheGrammarAndQuickly() throws Exception {
    String monitor = RawClient.basic("watch", "watch");
    for (int i = 0; i < 50; i++) {
      get("/v1/apps/orders/" + i, RawClient.ALICE);
      get("/nothing/" + i, "");
    }
    long best = Long.MAX_VALUE;
    RawClient.Answer answer = get("/metrics", monitor);
    // Something else may run beside one of them: the quickest counts, and there are no more than it
    // takes.
    for (int i = 0; i < MOST_SCRAPES && best >= SCRAPE_NANOS; i++) {
      long start = System.nanoTime();
      answer = get("/metrics", monitor);
      best = Math.min(best, System.nanoTime() - start);
    }

    assertTrue(
        answer.header("Content-Type").startsWith("application/openmetrics-text; version=1.0.0"));
    OpenMetricsGrammar.check(answer.text());
    assertTrue(best < SCRAPE_NANOS, best + " ns");
    assertTrue(
        answer
            .text()
            .contains(
                "kakehashi_http_requests_total{route=\"GET /v1/apps/orders/{n}\",status=\"2xx\"} 50\n"),
        answer.text());
    assertTrue(
        answer
            .text()
            .contains("kakehashi_http_requests_total{route=\"none\",status=\"4xx\"} 50\n"));
    assertTrue(answer.text().contains("kakehashi_sessions{user=\"a\\\"b\\\\c\\nd\"} 7\n"));
    assertTrue(answer.text().contains("kakehashi_http_metrics_samples_dropped 5\n"));
  }

  /// The text format of OpenMetrics 1.0, as far as there are counters and gauges.
  private static final class OpenMetricsGrammar {
    private static final Pattern META =
        Pattern.compile("# (TYPE|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)");
    private static final Pattern SAMPLE =
        Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{[a-z_]+=\"(?:[^\"\\\\\\n]|\\\\[\"\\\\n])*\"(?:,[a-z_]+=\"(?:[^\"\\\\\\n]|\\\\[\"\\\\n])*\")*\\})? (-?[0-9]+(?:\\.[0-9]+)?(?:E-?[0-9]+)?)");

    static void check(String page) {
      String[] lines = page.split("\n", -1);
      assertEquals("# EOF", lines[lines.length - 2]);
      assertEquals("", lines[lines.length - 1]);
      String family = "";
      String type = "";
      Set<String> families = new HashSet<>();
      Set<String> samples = new HashSet<>();
      for (int i = 0; i < lines.length - 2; i++) {
        Matcher meta = META.matcher(lines[i]);
        if (meta.matches()) {
          if (meta.group(1).equals("TYPE")) {
            family = meta.group(2);
            type = meta.group(3);
            assertTrue(families.add(family), lines[i]);
          }
          assertEquals(family, meta.group(2), lines[i]);
        } else {
          Matcher sample = SAMPLE.matcher(lines[i]);
          assertTrue(sample.matches(), lines[i]);
          assertEquals(
              family + (type.equals("counter") ? "_total" : ""), sample.group(1), lines[i]);
          assertTrue(samples.add(sample.group(1) + sample.group(2)), lines[i]);
        }
      }
      assertTrue(samples.size() < 5_000, "labels are bounded");
    }
  }
}
