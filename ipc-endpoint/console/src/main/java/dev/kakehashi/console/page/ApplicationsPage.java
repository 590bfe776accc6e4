package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Native applications: versions, calls, errors, log.
final class ApplicationsPage implements ConsolePage {
  private static final String PATH = "/console/applications";

  private static final String APPLICATIONS =
      """
      SELECT application_schema, application_name, owner, version, versions, isolation, deployed_at, functions, procedures,
        routes, handlers, processes
      FROM kakehashi_catalog.applications ORDER BY application_schema, application_name LIMIT 200\
      """;
  private static final String CALLS =
      """
      SELECT application_name, version, member, running, calls, failures, total_ms,
        round((total_ms / nullif(calls, 0))::numeric, 3) AS mean_ms
      FROM kakehashi_catalog.application_calls ORDER BY calls DESC, application_name, member LIMIT 200\
      """;
  private static final String ERRORS =
      """
      SELECT failed_at, application_name, version, member, sqlstate, message, stack
      FROM kakehashi_catalog.application_errors ORDER BY failed_at DESC LIMIT 100\
      """;
  private static final String LOG =
      """
      SELECT logged_at, application_name, version, line
      FROM kakehashi_catalog.application_log ORDER BY logged_at DESC LIMIT 200\
      """;
  private static final String VERSIONS =
      """
      SELECT application_schema, application_name, version, is_current, isolation, deployed_at, jar_name, jar_bytes, jar_sha256
      FROM kakehashi_catalog.application_versions ORDER BY application_schema, application_name, version DESC LIMIT 200\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Applications");
  }

  @Override
  public int refreshSeconds() {
    return 3;
  }

  @Override
  public Html live(PageView view) {
    return Html.of("{}", Grid.of("Applications", view.query(APPLICATIONS)))
        .add("<h2>Calls</h2>\n{}", Grid.of("Calls", view.query(CALLS)))
        .add("<h2>Errors</h2>\n{}", errors(view))
        .add("<h2>Log</h2>\n{}", Grid.of("Log", view.query(LOG)))
        .add("<h2>Versions</h2>\n{}", versions(view));
  }

  private static Html errors(PageView view) {
    TextResult result = view.query(ERRORS);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add("<tr>{}{}", values.cell("failed_at"), values.cell("application_name"))
          .add("{}{}", values.cell("version"), values.cell("member"))
          .add("{}{}", values.cell("sqlstate"), values.cell("message"))
          .add("{}</tr>\n", Grid.longCell(values.get("stack")));
    }
    return Grid.of(
        "Errors",
        List.of("Failed at", "Application", "#Version", "Member", "SQLSTATE", "Message", "Stack"),
        rows);
  }

  private static Html versions(PageView view) {
    TextResult result = view.query(VERSIONS);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add(
              "<tr><td>{}</td>{}",
              SqlNames.shown(values.text("application_schema"), values.text("application_name")),
              values.cell("version"))
          .add("{}{}", values.cell("deployed_at"), values.cell("jar_name"))
          .add("<td class=\"number\">{}</td>", values.bytes("jar_bytes"))
          .add(
              "{}<td class=\"acts\">{}</td></tr>\n",
              Grid.longCell(values.get("jar_sha256")),
              use(view, values));
    }
    return Grid.of(
        "Versions",
        List.of("Application", "#Version", "Deployed at", "File", "#Size", "SHA-256", "Actions"),
        rows);
  }

  private static Html use(PageView view, PageRow values) {
    if (values.isTrue("is_current")) {
      return Html.of("<span class=\"state on\">in use</span>");
    }
    return Html.of(
        """
        <form method="post" action="/console/applications/use">{}<input type="hidden" name="schema" value="{}">\
        <input type="hidden" name="name" value="{}"><input type="hidden" name="version" value="{}">\
        <button data-confirm="Use this version for new calls?">Use</button></form>\
        """,
        view.csrf(),
        values.get("application_schema"),
        values.get("application_name"),
        values.get("version"));
  }

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction(PATH + "/use", Set.of("schema", "name", "version"), ApplicationsPage::use));
  }

  private static PageAction.Outcome use(ActionView view) {
    String schema = view.field("schema");
    String name = view.field("name");
    long version = view.number("version");
    view.run(
        "use version",
        SqlNames.shown(schema, name) + " " + version,
        "ALTER APPLICATION " + SqlNames.quoted(schema, name) + " USE VERSION " + version,
        List.of());
    return new PageAction.Outcome(
        PATH, "New calls of " + SqlNames.shown(schema, name) + " meet version " + version + ".");
  }
}
