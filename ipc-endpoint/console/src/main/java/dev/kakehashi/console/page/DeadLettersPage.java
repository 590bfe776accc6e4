package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Tasks that have failed for good: by error, and how to give them another chance.
final class DeadLettersPage implements ConsolePage {
  private static final String PATH = "/console/dead-letters";

  private static final String ERROR =
      "SELECT last_error FROM kakehashi_catalog.tasks WHERE queue_schema = $1 AND queue_name = $2 AND task_id = $3::int8 LIMIT 1";

  /// A queue with dead tasks of its own, and a queue that gets those of others.
  private static final String QUEUES =
      """
      SELECT q.queue_schema, q.queue_name, 'dead' AS kind, q.dead AS tasks, q.queue_schema AS to_schema, q.queue_name AS to_name
      FROM kakehashi_catalog.queues q WHERE q.dead > 0
      UNION ALL
      SELECT d.queue_schema, d.queue_name, 'dead letters of ' || q.queue_schema || '.' || q.queue_name, d.ready + d.delayed,
        q.queue_schema, q.queue_name
      FROM kakehashi_catalog.queues q JOIN kakehashi_catalog.queues d ON q.dead_letter = d.queue_schema || '.' || d.queue_name
      ORDER BY 1, 2, 5, 6 LIMIT 200\
      """;

  private static final String ERRORS =
      """
      SELECT t.queue_schema, t.queue_name, t.last_error, count(*) AS tasks, min(t.enqueued_at) AS oldest, max(t.attempts) AS attempts,
        min(t.task_id) AS first_task, t.state = 'DEAD' AS own, min(s.queue_schema) AS to_schema, min(s.queue_name) AS to_name,
        coalesce(min(s.sources), 0) AS sources
      FROM kakehashi_catalog.tasks t LEFT JOIN
        (SELECT dead_letter, min(queue_schema) AS queue_schema, min(queue_name) AS queue_name, count(*) AS sources
        FROM kakehashi_catalog.queues WHERE dead_letter IS NOT NULL GROUP BY dead_letter) s
        ON s.dead_letter = t.queue_schema || '.' || t.queue_name
      WHERE t.state = 'DEAD' OR s.sources IS NOT NULL
      GROUP BY t.queue_schema, t.queue_name, t.last_error, t.state = 'DEAD'
      ORDER BY tasks DESC, t.queue_schema, t.queue_name LIMIT 200\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Dead letters");
  }

  @Override
  public Html live(PageView view) {
    return Html.of("<h2>By error</h2>\n{}", errors(view))
        .add("<h2>Another chance</h2>\n{}", queues(view));
  }

  private static Html errors(PageView view) {
    TextResult result = view.query(ERRORS);
    Html rows = new Html();
    int number = 0;
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      number++;
      String schema = values.text("queue_schema");
      String name = values.text("queue_name");
      rows.add(
              "<tr><td>{}</td>{}",
              QueuesPage.link(schema, name),
              Grid.longCell(values.get("last_error")))
          .add("{}{}", values.cell("tasks"), values.cell("attempts"))
          .add(
              "{}<td class=\"number\"><a href=\"{}\">{}</a></td>",
              values.cell("oldest"),
              SqlNames.address(
                  TaskPage.PATH, "schema", schema, "name", name, "task", values.text("first_task")),
              values.get("first_task"))
          .add("<td class=\"acts\">{}</td></tr>\n", replayOfError(view, values, number));
    }
    return Grid.of(
        "Errors",
        List.of("Queue", "Error", "#Tasks", "#Attempts", "Oldest", "#First task", "Replay"),
        rows);
  }

  /// Nothing where the tasks could go back to several queues: below, each has a form of its own.
  private static Html replayOfError(PageView view, PageRow values, int number) {
    boolean isOwn = values.isTrue("own");
    if (!isOwn && values.number("sources") != 1) {
      return new Html();
    }
    return replay(
        view,
        values,
        isOwn ? values.text("queue_schema") : values.text("to_schema"),
        isOwn ? values.text("queue_name") : values.text("to_name"),
        values.text("first_task"),
        "e" + number);
  }

  private static Html queues(PageView view) {
    TextResult result = view.query(QUEUES);
    Html rows = new Html();
    int number = 0;
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      number++;
      rows.add(
              "<tr><td>{}</td>{}",
              QueuesPage.link(values.text("queue_schema"), values.text("queue_name")),
              values.cell("kind"))
          .add(
              "{}<td>{}</td>",
              values.cell("tasks"),
              SqlNames.shown(values.text("to_schema"), values.text("to_name")))
          .add(
              "<td class=\"acts\">{}</td></tr>\n",
              replay(
                  view,
                  values,
                  values.text("to_schema"),
                  values.text("to_name"),
                  "",
                  "q" + number));
    }
    return Grid.of(
        "Queues with dead tasks", List.of("Queue", "What", "#Tasks", "Back to", "Replay"), rows);
  }

  /// @param like a task whose last error the tasks have; empty: all
  private static Html replay(
      PageView view, PageRow values, String toSchema, String toName, String like, String number) {
    return Html.of(
            """
            <form method="post" action="/console/dead-letters/replay">{}<input type="hidden" name="schema" value="{}">\
            <input type="hidden" name="name" value="{}"><input type="hidden" name="to_schema" value="{}">\
            <input type="hidden" name="to_name" value="{}"><input type="hidden" name="like" value="{}">\
            """,
            view.csrf(),
            values.get("queue_schema"),
            values.get("queue_name"),
            toSchema,
            toName,
            like)
        .add(
            """
            <label for="count{}">Tasks</label> <input id="count{}" name="count" inputmode="numeric" size="6" value="{}">\
            <label for="rate{}">at a second</label> <input id="rate{}" name="rate" inputmode="numeric" size="5" value="10">\
            <button data-confirm="Give these tasks another chance?">Replay</button></form>\
            """,
            number,
            number,
            Math.min(values.number("tasks"), 100),
            number,
            number);
  }

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction(
            PATH + "/replay",
            Set.of("schema", "name", "to_schema", "to_name", "like", "count", "rate"),
            DeadLettersPage::replay));
  }

  private static PageAction.Outcome replay(ActionView view) {
    String schema = view.field("schema");
    String name = view.field("name");
    String toSchema = view.field("to_schema");
    String toName = view.field("to_name");
    String like = view.field("like");
    long count = view.number("count");
    long rate = view.number("rate");
    if (count < 1 || rate < 1) {
      throw Problem.badRequest("tasks and rate must be at least 1");
    }
    boolean isOwn = schema.equals(toSchema) && name.equals(toName);
    String sql =
        "MOVE "
            + (isOwn ? "DEAD " : "")
            + count
            + " FROM QUEUE "
            + SqlNames.quoted(schema, name)
            + " TO QUEUE "
            + SqlNames.quoted(toSchema, toName)
            + (like.isEmpty() ? "" : " ERROR " + SqlNames.literal(error(view, schema, name, like)))
            + " RATE '"
            + rate
            + "/s'";
    TextResult result =
        view.run("replay dead letters", SqlNames.shown(schema, name), sql, List.of());
    return new PageAction.Outcome(
        PATH,
        result.rowCount()
            + " tasks of "
            + SqlNames.shown(schema, name)
            + " become ready, "
            + rate
            + " in a second.");
  }

  /// The last error of a task. Forms have its number: a browser would change line breaks of the text.
  private static String error(ActionView view, String schema, String name, String task) {
    List<@Nullable String[]> rows = view.look(ERROR, List.of(schema, name, task)).rows();
    if (rows.isEmpty()) {
      throw Problem.badRequest("task " + task + " is no longer there: look at the page again");
    }
    String error = rows.getFirst()[0];
    return error == null ? "" : error;
  }
}
