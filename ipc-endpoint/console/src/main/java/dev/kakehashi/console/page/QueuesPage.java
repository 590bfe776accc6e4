package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All queues with their counts.
final class QueuesPage implements ConsolePage {
  static final String PATH = "/console/queues";

  private static final String QUEUES =
      """
      SELECT queue_schema, queue_name, paused, ready, delayed, leased, dead, done, enqueued, oldest_ready, oldest_lease,
        rate, enforced_rate, waiting, missed_wakeups, bytes, dead_letter
      FROM kakehashi_catalog.queues ORDER BY queue_schema, queue_name LIMIT 500\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Queues");
  }

  @Override
  public int refreshSeconds() {
    return 2;
  }

  @Override
  public Html live(PageView view) {
    TextResult result = view.query(QUEUES);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add(
              "<tr><td>{}{}</td>",
              link(values.text("queue_schema"), values.text("queue_name")),
              paused(values))
          .add("{}{}", values.cell("ready"), values.cell("delayed"))
          .add("{}", values.cell("leased"))
          .add(
              values.number("dead") > 0
                  ? "<td class=\"number bad\">{}</td>"
                  : "<td class=\"number\">{}</td>",
              values.get("dead"))
          .add("{}<td class=\"number\">{}</td>", values.cell("done"), values.age("oldest_ready"))
          .add("<td class=\"number\">{}</td>", values.age("oldest_lease"))
          .add("{}{}", values.cell("enforced_rate"), values.cell("waiting"))
          .add(
              "{}<td class=\"number\">{}</td>",
              values.cell("missed_wakeups"),
              values.bytes("bytes"))
          .add("{}</tr>\n", values.cell("dead_letter"));
    }
    return Grid.of(
        "Queues",
        List.of(
            "Queue",
            "#Ready",
            "#Delayed",
            "#Leased",
            "#Dead",
            "#Done",
            "#Oldest ready",
            "#Oldest lease",
            "#Rate/s",
            "#Consumers waiting",
            "#Missed wake-ups",
            "#Size",
            "Dead letters go to"),
        rows);
  }

  private static Html paused(PageRow values) {
    return values.isTrue("paused")
        ? Html.of(" <span class=\"state wait\">paused</span>")
        : new Html();
  }

  /// A link to the page of a queue.
  static Html link(String schema, String name) {
    return Html.of(
        "<a href=\"{}\">{}</a>",
        SqlNames.address("/console/queue", "schema", schema, "name", name),
        SqlNames.shown(schema, name));
  }
}
