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
      SELECT queue_schema, queue_name, last_error, count(*) AS tasks, min(enqueued_at) AS oldest, max(attempts) AS attempts,
        min(task_id) AS first_task
      FROM kakehashi_catalog.tasks
      WHERE state = 'DEAD' OR queue_schema || '.' || queue_name IN
        (SELECT dead_letter FROM kakehashi_catalog.queues WHERE dead_letter IS NOT NULL)
      GROUP BY queue_schema, queue_name, last_error ORDER BY tasks DESC, queue_schema, queue_name LIMIT 200\
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
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      String schema = values.text("queue_schema");
      String name = values.text("queue_name");
      rows.add(
              "<tr><td>{}</td>{}",
              QueuesPage.link(schema, name),
              Grid.longCell(values.get("last_error")))
          .add("{}{}", values.cell("tasks"), values.cell("attempts"))
          .add(
              "{}<td class=\"number\"><a href=\"{}\">{}</a></td></tr>\n",
              values.cell("oldest"),
              SqlNames.address(
                  TaskPage.PATH, "schema", schema, "name", name, "task", values.text("first_task")),
              values.get("first_task"));
    }
    return Grid.of(
        "Errors", List.of("Queue", "Error", "#Tasks", "#Attempts", "Oldest", "#First task"), rows);
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
          .add("<td class=\"acts\">{}</td></tr>\n", replay(view, values, number));
    }
    return Grid.of(
        "Queues with dead tasks", List.of("Queue", "What", "#Tasks", "Back to", "Replay"), rows);
  }

  private static Html replay(PageView view, PageRow values, int number) {
    return Html.of(
            """
            <form method="post" action="/console/dead-letters/replay">{}<input type="hidden" name="schema" value="{}">\
            <input type="hidden" name="name" value="{}"><input type="hidden" name="to_schema" value="{}">\
            <input type="hidden" name="to_name" value="{}">\
            """,
            view.csrf(),
            values.get("queue_schema"),
            values.get("queue_name"),
            values.get("to_schema"),
            values.get("to_name"))
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
            Set.of("schema", "name", "to_schema", "to_name", "count", "rate"),
            DeadLettersPage::replay));
  }

  private static PageAction.Outcome replay(ActionView view) {
    String schema = view.field("schema");
    String name = view.field("name");
    String toSchema = view.field("to_schema");
    String toName = view.field("to_name");
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
}
