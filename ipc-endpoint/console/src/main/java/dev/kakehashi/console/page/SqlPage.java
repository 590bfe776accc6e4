package dev.kakehashi.console.page;

import dev.kakehashi.console.access.AuditLog;
import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextQueries;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// Statements of the visitor's own, with their rows as table and chart.
final class SqlPage implements ConsolePage {
  /// Fields of its form.
  static final Set<String> FIELDS = Set.of("csrf", "sql", "act", "seconds");

  private static final int MAX_ROWS = 1_000;
  private static final int VALUE_BYTES = 4_000;
  private static final long MAX_BYTES = 8L << 20;
  private static final int DEFAULT_SECONDS = 30;
  private static final int MAX_SECONDS = 3_600;
  private static final double NANOS_PER_MILLI = 1e6;

  private final TextQueries queries;
  private final AuditLog audit;

  SqlPage(TextQueries queries, AuditLog audit) {
    this.queries = queries;
    this.audit = audit;
  }

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry("/console/sql", "SQL");
  }

  @Override
  public Set<String> parameters() {
    return Set.of("sql");
  }

  @Override
  public Html live(PageView view) {
    return form(view, view.parameter("sql"), DEFAULT_SECONDS);
  }

  private static Html form(PageView view, String sql, long seconds) {
    return Html.of(
        """
        <form method="post" action="/console/sql" class="statement">{}
        <label for="sql">Statement</label>
        <textarea id="sql" name="sql" rows="6" spellcheck="false" autocapitalize="off" data-submit="true" aria-describedby="keys">{}</textarea>
        <p class="acts"><button class="main" name="act" value="run">Run</button>
        <button name="act" value="plan">Plan</button>
        <button name="act" value="analyze" data-confirm="Run the statement to measure its plan?">Plan with times</button>
        <label for="seconds">at most seconds</label> <input id="seconds" name="seconds" inputmode="numeric" size="5" value="{}">
        <small id="keys">Ctrl-Enter runs it. It commits by itself. The first 1,000 rows are shown.</small></p>
        </form>
        """,
        view.csrf(),
        // A line feed right behind the tag would be lost.
        "\n" + sql,
        seconds);
  }

  /// Runs the statement of a form.
  ///
  /// @throws Problem 400: the form is broken
  Html run(PageView view, Map<String, String> form) {
    String sql = form.getOrDefault("sql", "").replace("\r\n", "\n").strip();
    long seconds = seconds(form.getOrDefault("seconds", String.valueOf(DEFAULT_SECONDS)));
    Html page = form(view, sql, seconds);
    if (sql.isEmpty()) {
      return page;
    }
    String act = form.getOrDefault("act", "run");
    // A semicolon behind the last statement is what everybody writes.
    String text = sql.endsWith(";") ? sql.substring(0, sql.length() - 1) : sql;
    String statement =
        switch (act) {
          case "run" -> text;
          case "plan" -> "EXPLAIN " + text;
          case "analyze" -> "EXPLAIN (ANALYZE) " + text;
          default -> throw Problem.badRequest("there is no action \"" + act + "\"");
        };
    long begin = System.nanoTime();
    try {
      TextResult result = run(view, statement, seconds);
      double millis = (System.nanoTime() - begin) / NANOS_PER_MILLI;
      return page.add("{}", act.equals("run") ? result(result, millis) : plan(result));
    } catch (EngineException e) {
      return page.add("{}", failure(e, statement));
    }
  }

  private static long seconds(String text) {
    if (!text.matches("[0-9]{1,4}")
        || Long.parseLong(text) < 1
        || Long.parseLong(text) > MAX_SECONDS) {
      throw Problem.badRequest("seconds must be a whole number from 1 to " + MAX_SECONDS);
    }
    return Long.parseLong(text);
  }

  private TextResult run(PageView view, String statement, long seconds) {
    TextQueries.Limits limits =
        new TextQueries.Limits(MAX_ROWS, VALUE_BYTES, MAX_BYTES, TimeUnit.SECONDS.toNanos(seconds));
    TextResult[] result = new TextResult[1];
    audit.run(
        view.visitor(),
        "sql",
        "",
        statement,
        () -> {
          TextResult now =
              queries.run(view.visitor().user(), statement, List.of(), limits, view.canceler());
          result[0] = now;
          return now.rowCount() >= 0
              ? "done, " + now.rowCount() + " rows"
              : "done, first rows shown";
        });
    return result[0];
  }

  private static Html result(TextResult result, double millis) {
    String time = String.format(Locale.ROOT, "%.1f ms", millis);
    if (result.columns().isEmpty()) {
      return Html.of(
          "<p role=\"status\" class=\"notice\">Done. {} rows, {}.</p>\n", result.rowCount(), time);
    }
    Html page =
        Html.of(
            "<p role=\"status\">{}{} rows, {}.</p>\n",
            result.isCut() ? "The first " : "",
            result.rows().size(),
            time);
    if (result.rows().size() > 1
        && result.columns().stream().anyMatch(TextResult.Column::isNumber)) {
      page.add("<div id=\"chart\" class=\"chart\" data-table=\"result\"></div>\n");
    }
    return page.add("<div id=\"result\">{}</div>\n", Grid.of("Result", result));
  }

  private static Html plan(TextResult result) {
    StringBuilder text = new StringBuilder();
    result.rows().forEach(row -> text.append(row[0] == null ? "" : row[0]).append('\n'));
    return Html.of("<h2>Plan</h2>\n<pre class=\"plan\" tabindex=\"0\">{}</pre>\n", text);
  }

  private static Html failure(EngineException e, String statement) {
    Problem problem = Problem.of(e);
    Html text =
        Html.of(
            "<div class=\"failure\" role=\"alert\"><p><strong>{}</strong> {}</p>\n",
            e.sqlstate(),
            problem.detail());
    if (e.position() > 0 && e.position() <= statement.length()) {
      text.add("<pre>{}</pre>\n", place(statement, e.position()));
    }
    if (!e.detail().isEmpty()) {
      text.add("<p>{}</p>\n", e.detail());
    }
    if (!e.hint().isEmpty()) {
      text.add("<p>Hint: {}</p>\n", e.hint());
    }
    return text.add("</div>\n");
  }

  /// The line with the error, and a mark below it.
  private static String place(String statement, int position) {
    int at =
        Math.min(
            statement.length(),
            statement.offsetByCodePoints(
                0, Math.min(position - 1, statement.codePointCount(0, statement.length()))));
    int from = statement.lastIndexOf('\n', Math.max(0, at - 1)) + 1;
    int to = statement.indexOf('\n', at);
    String line = statement.substring(Math.min(from, at), to < 0 ? statement.length() : to);
    return line + "\n" + " ".repeat(at - Math.min(from, at)) + "^";
  }
}
