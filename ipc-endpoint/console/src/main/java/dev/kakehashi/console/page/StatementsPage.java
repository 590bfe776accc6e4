package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Running work: statements of sessions, jobs of the scheduler, loads and dumps.
final class StatementsPage implements ConsolePage {
  private static final String PATH = "/console/statements";

  private static final String SESSIONS =
      """
      SELECT session_id, client_kind, application_name, user_name, state, statement, statement_started_at,
        now() - statement_started_at AS running_for, handle, rows_sent, bytes_sent
      FROM kakehashi_catalog.sessions
      ORDER BY state = 'active' DESC, statement_started_at NULLS LAST, session_id LIMIT 200\
      """;
  private static final String JOBS =
      """
      SELECT job_id, name, label, state, progress, tasks, tasks_finished, queued_ms, run_ms, elapsed_ms, handle
      FROM kakehashi_catalog.jobs ORDER BY job_id LIMIT 200\
      """;
  private static final String COPIES =
      """
      SELECT job_id, command, bytes_processed, bytes_total, rows_processed, rows_filtered, rows_rejected, statement
      FROM kakehashi_catalog.copies ORDER BY job_id LIMIT 200\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Statements and jobs");
  }

  @Override
  public int refreshSeconds() {
    return 2;
  }

  @Override
  public Html live(PageView view) {
    return Html.of("<h2>Sessions</h2>\n{}", sessions(view))
        .add("<h2>Jobs of the scheduler</h2>\n{}", jobs(view))
        .add("<h2>Loads and dumps</h2>\n{}", copies(view));
  }

  private static Html sessions(PageView view) {
    TextResult result = view.query(SESSIONS);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      boolean isActive = values.text("state").equals("active");
      rows.add("<tr>{}{}", values.cell("session_id"), values.cell("client_kind"))
          .add("{}{}", values.cell("application_name"), values.cell("user_name"))
          .add(
              "<td><span class=\"state {}\">{}</span></td>",
              isActive ? "on" : "",
              values.get("state"))
          .add("<td class=\"number\">{}</td>", isActive ? values.age("running_for") : "–")
          .add("{}{}", Grid.longCell(values.get("statement")), values.cell("rows_sent"))
          .add("<td class=\"number\">{}</td>", values.bytes("bytes_sent"))
          .add("<td class=\"acts\">{}</td></tr>\n", acts(view, values));
    }
    return Grid.of(
        "Sessions",
        List.of(
            "#Session",
            "Kind",
            "Application",
            "User",
            "State",
            "#For",
            "Statement",
            "#Rows sent",
            "#Sent",
            "Actions"),
        rows);
  }

  private static Html acts(PageView view, PageRow values) {
    Html acts = new Html();
    if (values.text("state").equals("active") && !values.text("statement").equals(SESSIONS)) {
      acts.add(
          """
          <form method="post" action="/console/statements/cancel-session">{}\
          <input type="hidden" name="session" value="{}">\
          <button data-confirm="Cancel the statement?">Cancel</button></form>\
          """,
          view.csrf(),
          values.get("session_id"));
    }
    String statement = values.text("statement");
    if (!statement.isEmpty() && !statement.startsWith("<insufficient")) {
      acts.add(
          """
          <form method="post" action="/console/sql">{}<input type="hidden" name="sql" value="{}">\
          <button name="act" value="plan">Plan</button></form>\
          """,
          view.csrf(),
          statement);
    }
    return acts;
  }

  /// The button that cancels what runs in a transaction.
  ///
  /// @param back page that is shown afterwards
  static Html cancel(PageView view, String handle, String back) {
    return Html.of(
        """
        <form method="post" action="/console/statements/cancel">{}<input type="hidden" name="handle" value="{}">\
        <input type="hidden" name="back" value="{}"><button data-confirm="Cancel the statement?">Cancel</button></form>\
        """,
        view.csrf(),
        handle,
        back);
  }

  private static Html jobs(PageView view) {
    TextResult result = view.query(JOBS);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      String progress = values.get("progress");
      rows.add("<tr>{}{}", values.cell("job_id"), Grid.longCell(values.get("name")))
          .add("{}{}", values.cell("label"), values.cell("state"))
          .add(
              "<td>{}</td>",
              progress == null
                  ? "–"
                  : Html.of("<progress max=\"1\" value=\"{}\">{}</progress>", progress, progress))
          .add(
              "<td class=\"number\">{} of {}</td>",
              values.get("tasks_finished"),
              values.get("tasks"))
          .add("{}{}", millis(values, "queued_ms"), millis(values, "run_ms"))
          .add("{}<td class=\"acts\">", millis(values, "elapsed_ms"));
      if (values.get("handle") != null) {
        rows.add("{}", cancel(view, values.text("handle"), PATH));
      }
      rows.add("</td></tr>\n");
    }
    return Grid.of(
        "Jobs",
        List.of(
            "#Job",
            "Name",
            "Label",
            "State",
            "Progress",
            "#Tasks",
            "#Queued",
            "#Run",
            "#Elapsed",
            "Actions"),
        rows);
  }

  private static Html millis(PageRow values, String column) {
    String text = values.get(column);
    return text == null
        ? Grid.cell(null, true)
        : Grid.cell(String.format(Locale.ROOT, "%.1f ms", Double.parseDouble(text)), true);
  }

  private static Html copies(PageView view) {
    return Grid.of("Loads and dumps", view.query(COPIES));
  }

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction(PATH + "/cancel", Set.of("handle", "back"), StatementsPage::cancel),
        new PageAction(PATH + "/cancel-session", Set.of("session"), StatementsPage::cancelSession));
  }

  private static PageAction.Outcome cancelSession(ActionView view) {
    long session = view.longField("session");
    String outcome =
        view.run(
            "cancel",
            "session " + session,
            () ->
                view.queries().cancelSession(view.visitor().user(), session)
                    ? "canceled"
                    : "nothing to cancel");
    return ended(outcome, PATH);
  }

  private static PageAction.Outcome cancel(ActionView view) {
    long handle = view.longField("handle");
    String outcome =
        view.run(
            "cancel",
            "transaction " + handle,
            () ->
                view.queries().cancelTransaction(view.visitor().user(), handle)
                    ? "canceled"
                    : "nothing to cancel");
    String back = view.field("back");
    return ended(outcome, back.equals(TransactionsPage.PATH) ? back : PATH);
  }

  private static PageAction.Outcome ended(String outcome, String back) {
    if (!outcome.equals("canceled")) {
      throw Problem.notFound(
          "there is nothing to cancel: the statement has ended, or belongs to somebody whose statements you may not cancel");
    }
    return new PageAction.Outcome(back, "The statement was asked to end.");
  }
}
