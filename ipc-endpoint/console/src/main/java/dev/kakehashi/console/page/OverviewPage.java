package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How the endpoint does, at a look. The browser keeps what it has seen, and draws it.
final class OverviewPage implements ConsolePage {
  private static final String SESSIONS =
      """
      SELECT count(*) AS sessions, count(*) FILTER (WHERE state = 'active') AS active,
        count(*) FILTER (WHERE state = 'idle in transaction') AS idle_in_transaction
      FROM kakehashi_catalog.sessions\
      """;
  private static final String TRANSACTIONS =
      """
      SELECT count(*) AS transactions, count(*) FILTER (WHERE waiting) AS waiting, now() - min(began_at) AS oldest
      FROM kakehashi_catalog.transactions\
      """;
  private static final String WAITS =
      "SELECT count(DISTINCT transaction_id) AS blocked FROM kakehashi_catalog.waits";
  private static final String JOBS = "SELECT count(*) AS jobs FROM kakehashi_catalog.jobs";
  private static final String MEMORY =
      "SELECT limit_bytes, reserved_bytes, used_bytes, commits_held FROM kakehashi_catalog.memory";
  private static final String QUEUES =
      """
      SELECT count(*) AS queues, sum(ready) AS ready, sum(leased) AS leased, sum(dead) AS dead, sum(missed_wakeups) AS missed,
        max(oldest_ready) AS oldest_ready, max(oldest_lease) AS oldest_lease
      FROM kakehashi_catalog.queues\
      """;
  private static final String STORAGE =
      "SELECT groups, commits, flush_us, log_bytes, log_unapplied_bytes FROM kakehashi_catalog.storage";
  private static final String TIMES =
      "SELECT upper_us, requests FROM kakehashi_catalog.request_times ORDER BY upper_us";

  private static final double MEDIAN = 0.5;
  private static final double P99 = 0.99;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry("/console/overview", "Overview");
  }

  @Override
  public int refreshSeconds() {
    return 2;
  }

  @Override
  public Html live(PageView view) {
    PageRow sessions = PageRow.first(view.query(SESSIONS));
    PageRow transactions = PageRow.first(view.query(TRANSACTIONS));
    PageRow waits = PageRow.first(view.query(WAITS));
    PageRow jobs = PageRow.first(view.query(JOBS));
    PageRow memory = PageRow.first(view.query(MEMORY));
    PageRow queues = PageRow.first(view.query(QUEUES));
    Map<String, Object> sample = new LinkedHashMap<>();
    sample.put("sessions", sessions.number("active"));
    sample.put("ready", queues.number("ready"));
    sample.put("memory", memory.number("used_bytes"));
    Cards cards =
        new Cards()
            .add("Sessions", sessions.get("sessions"), sessions.get("active") + " active")
            .add(
                "Transactions",
                transactions.get("transactions"),
                "oldest " + transactions.age("oldest"))
            .add("Blocked", waits.get("blocked"), "wait for others")
            .add("Jobs", jobs.get("jobs"), "of the scheduler")
            .add("Memory", memory.bytes("used_bytes"), "of " + memory.bytes("limit_bytes"))
            .add(
                "Ready tasks",
                queues.get("ready") == null ? "0" : queues.get("ready"),
                "oldest " + queues.age("oldest_ready"))
            .add(
                "Leased tasks",
                queues.get("leased") == null ? "0" : queues.get("leased"),
                "oldest " + queues.age("oldest_lease"))
            .add(
                "Dead tasks",
                queues.get("dead") == null ? "0" : queues.get("dead"),
                queues.number("missed") + " missed wake-ups");
    TextResult times = view.query(TIMES);
    if (!times.rows().isEmpty()) {
      addTimes(cards, sample, times);
    }
    TextResult storage = view.query(STORAGE);
    if (!storage.rows().isEmpty()) {
      addStorage(cards, sample, PageRow.first(storage));
    }
    return cards.html().add("<div id=\"sample\" hidden data-values=\"{}\"></div>\n", json(sample));
  }

  private static void addTimes(Cards cards, Map<String, Object> sample, TextResult times) {
    long[] upper = new long[times.rows().size()];
    long[] counts = new long[upper.length];
    long sum = 0;
    StringBuilder buckets = new StringBuilder("[");
    for (int i = 0; i < upper.length; i++) {
      PageRow values = new PageRow(times, times.rows().get(i));
      upper[i] = values.number("upper_us");
      counts[i] = values.number("requests");
      sum += counts[i];
      buckets
          .append(i == 0 ? "[" : ",[")
          .append(upper[i])
          .append(',')
          .append(counts[i])
          .append(']');
    }
    sample.put("requests", sum);
    sample.put("times", new Raw(buckets.append(']').toString()));
    cards
        .add("Requests", sum, "since the start")
        .add(
            "Half of them within",
            micros(quantile(upper, counts, sum, MEDIAN)),
            "99 % " + micros(quantile(upper, counts, sum, P99)));
  }

  /// Upper bound of the bucket in which a quantile lies.
  private static long quantile(long[] upper, long[] counts, long sum, double quantile) {
    long wanted = (long) Math.ceil(sum * quantile);
    long seen = 0;
    for (int i = 0; i < upper.length; i++) {
      seen += counts[i];
      if (seen >= wanted) {
        return upper[i];
      }
    }
    return 0;
  }

  private static String micros(long micros) {
    if (micros < 1_000) {
      return micros + " µs";
    }
    return micros < 1_000_000
        ? String.format(Locale.ROOT, "%.1f ms", micros / 1e3)
        : String.format(Locale.ROOT, "%.1f s", micros / 1e6);
  }

  private static void addStorage(Cards cards, Map<String, Object> sample, PageRow storage) {
    long groups = storage.number("groups");
    sample.put("groups", groups);
    sample.put("commits", storage.number("commits"));
    cards
        .add(
            "Commits in a group",
            groups == 0
                ? "–"
                : String.format(Locale.ROOT, "%.2f", (double) storage.number("commits") / groups),
            groups == 0
                ? ""
                : String.format(
                    Locale.ROOT, "flush %.2f ms", storage.number("flush_us") / 1e3 / groups))
        .add("Log", storage.bytes("log_bytes"), "since the checkpoint");
  }

  /// JSON that is made already.
  private record Raw(String json) {}

  private static String json(Map<String, Object> sample) {
    StringBuilder json = new StringBuilder("{");
    sample.forEach((name, value) -> {
      @Nullable String text = value instanceof Raw raw ? raw.json() : value.toString();
      json.append(json.length() > 1 ? "," : "").append('"').append(name).append("\":").append(text);
    });
    return json.append('}').toString();
  }

  @Override
  public Html still(PageView view) {
    return Html.of(
        """
        <h2>Lately</h2>
        <div class="charts">
        {}{}{}{}{}{}</div>
        """,
        chart("requests", "Requests a second", "rate"),
        chart("times", "99 % of requests within, ms", "p99"),
        chart("commits", "Commits a second", "rate"),
        chart("groups", "Commits in a group", "group"),
        chart("ready", "Ready tasks", "value"),
        chart("memory", "Memory used, MB", "megabytes"));
  }

  private static Html chart(String series, String title, String kind) {
    return Html.of(
        "<figure><figcaption>{}</figcaption><div class=\"chart\" role=\"img\" aria-label=\"{}\" data-series=\"{}\" data-kind=\"{}\"></div></figure>\n",
        title,
        title,
        series,
        kind);
  }
}
