package dev.kakehashi.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.HttpEndpoint;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/// The console in Chromium: each page on large and small screens, light and dark, and by keyboard alone.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before all tests
class ConsoleBrowserTest {
  private static final String OPERATOR = System.getProperty("user.name");
  private static final String HOSTILE = "<img src=x onerror=\"document.title='hacked'\">";
  private static final int DESK = 1280;
  private static final int POCKET = 390;
  private static final int HEIGHT = 900;

  private static HttpEndpoint endpoint;
  private static Path profile;
  private static Browser browser;

  /// Number of a task of the queue `mail`.
  private static String task = "";

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Browser.isThere(), "the packages chromium and chromium-driver are missing");
    endpoint = HttpEndpoint.start("http_console", "on");
    endpoint.user(OPERATOR, "runs it");
    fill();
    profile = Files.createTempDirectory("kakehashi-browser-");
    browser = Browser.start(endpoint.uri(), profile);
  }

  @AfterAll
  static void stop() throws IOException {
    if (browser != null) {
      browser.close();
      Directories.delete(profile);
    }
    if (endpoint != null) {
      endpoint.close();
    }
  }

  /// Something on each page, with names that are no good.
  private static void fill() throws IOException, InterruptedException {
    try (ConsoleClient client = new ConsoleClient(endpoint.uri())) {
      assertEquals(303, client.login(OPERATOR, "runs it"));
      for (String statement :
          List.of(
              "create table orders (id int8 primary key, customer text, total numeric(12,2), placed timestamptz)",
              "insert into orders select i, 'customer ' || i % 50, i * 1.25, now() - i * interval '1 hour'"
                  + " from generate_series(1, 2000) i",
              "create table " + quoted(HOSTILE) + " (v text)",
              "create queue mail with (max_attempts = 1)",
              "select enqueue('mail', ('{\"to\": \"user' || i || '@example.org\"}')::jsonb, key => 'k' || i % 5)"
                  + " from generate_series(1, 40) i",
              "select fail(token, error => 'connection to smtp.example.org:25 timed out') from receive('mail', \"max\" => 7)",
              "select fail(token, error => '"
                  + HOSTILE.replace("'", "''")
                  + "') from receive('mail', \"max\" => 2)",
              "create queue " + quoted(HOSTILE + "q"))) {
        String body = client.sql(statement).body();
        assertTrue(
            body.contains("Done.") || body.contains("id=\"result\""), statement + "\n" + body);
      }
      String queue =
          client.get("/console/queue" + query("schema", "public", "name", "mail")).body();
      Matcher link = Pattern.compile("task=([0-9]+)").matcher(queue);
      assertTrue(link.find(), queue);
      task = link.group(1);
    }
  }

  private static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  private static void login() {
    browser.open("/console/login");
    if (browser.path().equals("/console/login")) {
      browser.tabTo("it.id === 'user'");
      browser.press(OPERATOR, Keys.TAB, "runs it", Keys.ENTER);
      browser.await("the overview is there", () -> browser.path().equals("/console/overview"));
    }
  }

  private static String query(String... pairs) {
    StringBuilder query = new StringBuilder();
    for (int i = 0; i < pairs.length; i += 2) {
      query
          .append(i == 0 ? '?' : '&')
          .append(pairs[i])
          .append('=')
          .append(URLEncoder.encode(pairs[i + 1], StandardCharsets.UTF_8));
    }
    return query.toString();
  }

  private static Map<String, String> pages() {
    Map<String, String> pages = new LinkedHashMap<>();
    for (String page :
        List.of(
            "overview",
            "statements",
            "transactions",
            "queues",
            "dead-letters",
            "applications",
            "storage",
            "sql",
            "audit")) {
      pages.put(page, "/console/" + page);
    }
    pages.put("queue", "/console/queue" + query("schema", "public", "name", "mail"));
    pages.put("hostile-queue", "/console/queue" + query("schema", "public", "name", HOSTILE + "q"));
    pages.put("task", "/console/task" + query("schema", "public", "name", "mail", "task", task));
    return pages;
  }

  @Test
  void shouldShowEachPageOnEachScreen() throws IOException {
    browser.show(DESK, HEIGHT, false);
    login();
    for (Map.Entry<String, String> page : pages().entrySet()) {
      browser.show(DESK, HEIGHT, false);
      browser.open(page.getValue());
      assertTrue(
          browser.holds(
              "document.querySelector('h1') !== null && document.querySelector('.failure[role]') === null"),
          page.getKey());
      assertEquals("0", browser.value("document.images.length"), page.getKey());
      assertNotEquals("hacked", browser.value("document.title"), page.getKey());
      for (int width : new int[] {DESK, POCKET}) {
        for (boolean dark : new boolean[] {false, true}) {
          String name = page.getKey() + "-" + width + (dark ? "-dark" : "-light");
          browser.show(width, HEIGHT, dark);
          assertTrue(
              browser.holds("document.documentElement.scrollWidth <= innerWidth"),
              name + " is wider than the screen");
          assertEquals(
              dark ? "rgb(18, 22, 29)" : "rgb(246, 247, 249)",
              browser.value("getComputedStyle(document.body).backgroundColor"),
              name);
          browser.picture(name);
        }
      }
      assertEquals(List.of(), browser.messages(), page.getKey());
    }
  }

  @Test
  void shouldWorkByKeyboardAlone() throws IOException {
    browser.show(DESK, HEIGHT, false);
    login();
    browser.open("/console/overview");
    browser.press(Keys.TAB);
    assertEquals("Skip to the page", browser.value("document.activeElement.textContent"));
    browser.press(Keys.ENTER);
    assertEquals("main", browser.value("document.activeElement.id"));
    browser.open("/console/overview");
    browser.tabTo("it.textContent === 'SQL'");
    browser.press(Keys.ENTER);
    browser.await("the SQL page is there", () -> browser.path().equals("/console/sql"));
    browser.tabTo("it.id === 'sql'");
    browser.press(
        "select customer, sum(total) as total from orders group by customer order by 2 desc limit 12");
    browser.chord(Keys.CONTROL, Keys.ENTER);
    browser.await("the result is there", () -> browser.text().contains("12 rows"));
    assertTrue(browser.holds("document.querySelector('#chart canvas') !== null"));
    browser.picture("sql-result-1280-light");
    browser.tabTo("it.textContent === 'Plan'");
    browser.press(Keys.ENTER);
    browser.await("the plan is there", () -> browser.holds("document.querySelector('pre.plan')"));
    browser.tabTo("it.textContent === 'Queues'");
    browser.press(Keys.ENTER);
    browser.await("the queues are there", () -> browser.path().equals("/console/queues"));
    browser.tabTo("it.textContent === 'mail'");
    browser.press(Keys.ENTER);
    browser.await("the queue is there", () -> browser.path().equals("/console/queue"));
    browser.tabTo("it.value === 'pause'");
    browser.press(Keys.ENTER);
    browser.await("the queue is paused", () -> browser.text().contains("The queue is paused"));
    browser.tabTo("it.value === 'resume'");
    browser.press(Keys.ENTER);
    browser.await("the queue goes on", () -> browser.text().contains("hands out tasks again"));
    assertEquals(List.of(), browser.messages());
  }

  @Test
  void shouldFetchWhatLivesAgain() throws IOException {
    browser.show(DESK, HEIGHT, false);
    login();
    browser.open("/console/overview");
    browser.run("sessionStorage.clear()");
    browser.open("/console/overview");
    browser.await(
        "three samples were taken",
        () ->
            browser.holds(
                "JSON.parse(sessionStorage.getItem('kakehashi-samples') || '[]').length >= 3"));
    browser.await(
        "charts are drawn",
        () -> browser.holds("document.querySelectorAll('.charts canvas').length >= 4"));
    browser.picture("overview-live-1280-light");
    assertEquals(List.of(), browser.messages());
  }
}
