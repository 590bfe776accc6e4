package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One task, in each subscription group that has it.
final class TaskPage implements ConsolePage {
  static final String PATH = "/console/task";

  private static final String TASK =
      """
      SELECT t.task_id, t.group_name, t.position, t.state, t.attempts, t.key, t.fair, t.priority, t.enqueued_at, t.run_at,
        t.last_error, t.payload, t.payload_bytes, l.holder, l.lease_until
      FROM kakehashi_catalog.tasks t LEFT JOIN kakehashi_catalog.leases l
        ON l.queue_schema = t.queue_schema AND l.queue_name = t.queue_name AND l.task_id = t.task_id
          AND l.group_name IS NOT DISTINCT FROM t.group_name
      WHERE t.queue_schema = $1::text AND t.queue_name = $2::text AND t.task_id = $3::int8 ORDER BY t.group_name\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Task");
  }

  @Override
  public boolean isInMenu() {
    return false;
  }

  @Override
  public String menuPath() {
    return QueuesPage.PATH;
  }

  @Override
  public Set<String> parameters() {
    return Set.of("schema", "name", "task");
  }

  @Override
  public Html live(PageView view) {
    String schema = view.parameter("schema");
    String name = view.parameter("name");
    String task = view.parameter("task");
    if (!task.matches("[0-9]{1,18}")) {
      throw Problem.badRequest("\"task\" must be the number of a task");
    }
    TextResult result = view.query(TASK, schema, name, task);
    Html page = Html.of("<p>Task {} of {}</p>\n", task, QueuesPage.link(schema, name));
    if (result.rows().isEmpty()) {
      return page.add(
          "<p class=\"none\">The task is done, was canceled, or is not among the first 10,000 of its queue.</p>\n");
    }
    for (@Nullable String[] row : result.rows()) {
      page.add("{}", one(view, schema, name, new PageRow(result, row)));
    }
    return page;
  }

  private static Html one(PageView view, String schema, String name, PageRow values) {
    Html rows = new Html();
    for (String column :
        List.of(
            "group_name",
            "state",
            "attempts",
            "holder",
            "lease_until",
            "key",
            "fair",
            "priority",
            "position",
            "enqueued_at",
            "run_at",
            "payload_bytes")) {
      String value = values.get(column);
      rows.add(
          "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", column, value == null ? "–" : value);
    }
    Html page =
        Html.of(
            "<div class=\"scroll\" role=\"region\" aria-label=\"Task\" tabindex=\"0\"><table><tbody>\n{}</tbody></table></div>\n",
            rows);
    if (values.get("last_error") != null) {
      page.add("<h2>Last error</h2>\n<pre class=\"failure\">{}</pre>\n", values.get("last_error"));
    }
    page.add("<h2>Payload</h2>\n");
    if (values.get("payload") == null) {
      page.add("<p class=\"none\">{} bytes that are no JSON</p>\n", values.get("payload_bytes"));
    } else {
      page.add("<pre>{}</pre>\n", values.get("payload"));
    }
    if (!values.text("state").equals("LEASED")) {
      page.add(
          """
          <div class="acts"><form method="post" action="/console/task/cancel">{}<input type="hidden" name="schema" value="{}">\
          <input type="hidden" name="name" value="{}"><input type="hidden" name="task" value="{}">\
          <button data-confirm="Take the task out of its queue?">Cancel task</button></form></div>
          """,
          view.csrf(),
          schema,
          name,
          values.get("task_id"));
    }
    return page;
  }

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction(PATH + "/cancel", Set.of("schema", "name", "task"), TaskPage::cancel));
  }

  private static PageAction.Outcome cancel(ActionView view) {
    String schema = view.field("schema");
    String name = view.field("name");
    String task = view.field("task");
    TextResult result =
        view.run(
            "cancel task",
            SqlNames.shown(schema, name) + " " + task,
            "SELECT cancel_task($1::text, $2::int8)",
            List.of(SqlNames.quoted(schema, name), task));
    boolean isCanceled = "t".equals(result.rows().getFirst()[0]);
    return new PageAction.Outcome(
        SqlNames.address(QueuePage.PATH, "schema", schema, "name", name),
        isCanceled ? "The task was taken out." : "The task was not there, or is lent.");
  }
}
