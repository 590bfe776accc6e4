package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One queue: its options, groups, leases and tasks.
final class QueuePage implements ConsolePage {
  static final String PATH = "/console/queue";
  private static final int TASKS_SHOWN = 100;

  /// Last count among the columns of a queue; its options come behind it.
  private static final String LAST_COUNT = "bytes";

  private static final List<String> STATES = List.of("READY", "DELAYED", "LEASED", "DEAD");

  private static final String QUEUE =
      "SELECT * FROM kakehashi_catalog.queues WHERE queue_schema = $1::text AND queue_name = $2::text";
  private static final String GROUPS =
      """
      SELECT group_name, ready, delayed, leased, dead, done, oldest_ready, oldest_lease, waiting
      FROM kakehashi_catalog.queue_groups WHERE queue_schema = $1::text AND queue_name = $2::text AND group_name IS NOT NULL
      ORDER BY group_name\
      """;
  private static final String TASKS =
      """
      SELECT task_id, group_name, state, attempts, key, fair, priority, enqueued_at, run_at, last_error, payload_bytes
      FROM kakehashi_catalog.tasks
      WHERE queue_schema = $1::text AND queue_name = $2::text AND ($3::text IS NULL OR state = $3::text)
      ORDER BY position LIMIT 101 OFFSET $4::int8\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Queue");
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
    return Set.of("schema", "name", "state", "from");
  }

  @Override
  public int refreshSeconds() {
    return 2;
  }

  @Override
  public Html live(PageView view) {
    String schema = view.parameter("schema");
    String name = view.parameter("name");
    TextResult queue = view.query(QUEUE, schema, name);
    if (queue.rows().isEmpty()) {
      throw Problem.notFound(
          "there is no queue " + SqlNames.shown(schema, name) + ", or you have no right to it");
    }
    PageRow values = PageRow.first(queue);
    Html page =
        Html.of("<h2 class=\"name\">{}</h2>\n{}", SqlNames.shown(schema, name), cards(values))
            .add("{}", acts(view, values));
    TextResult groups = view.query(GROUPS, schema, name);
    if (!groups.rows().isEmpty()) {
      page.add("<h2>Subscription groups</h2>\n{}", Grid.of("Subscription groups", groups));
    }
    return page.add("<h2>Tasks</h2>\n{}", tasks(view, schema, name))
        .add("<h2>Options</h2>\n{}", options(values));
  }

  private static Html cards(PageRow values) {
    return new Cards()
        .add("Ready", values.get("ready"), "oldest " + values.age("oldest_ready"))
        .add("Leased", values.get("leased"), "oldest " + values.age("oldest_lease"))
        .add("Delayed", values.get("delayed"), "")
        .add("Dead", values.get("dead"), "")
        .add("Done", values.get("done"), "of " + values.get("enqueued") + " enqueued")
        .add(
            "Consumers waiting",
            values.get("waiting"),
            values.get("missed_wakeups") + " missed wake-ups")
        .html();
  }

  private static Html acts(PageView view, PageRow values) {
    boolean isPaused = values.isTrue("paused");
    return Html.of(
        "<div class=\"acts\">{}{}{}</div>\n",
        act(view, values, isPaused ? "resume" : "pause", isPaused ? "Resume" : "Pause", ""),
        act(view, values, "purge", "Purge tasks", "Remove all tasks of the queue?"),
        act(view, values, "purge-dead", "Purge dead tasks", "Remove all dead tasks of the queue?"));
  }

  private static Html act(
      PageView view, PageRow values, String what, String label, String question) {
    Html button =
        question.isEmpty()
            ? Html.of("<button name=\"act\" value=\"{}\">{}</button>", what, label)
            : Html.of(
                "<button name=\"act\" value=\"{}\" data-confirm=\"{}\">{}</button>",
                what,
                question,
                label);
    return Html.of(
        """
        <form method="post" action="/console/queue/act">{}<input type="hidden" name="schema" value="{}">\
        <input type="hidden" name="name" value="{}">{}</form>\
        """,
        view.csrf(),
        values.get("queue_schema"),
        values.get("queue_name"),
        button);
  }

  // ---- tasks ----

  private static Html tasks(PageView view, String schema, String name) {
    String wanted = view.parameter("state");
    String state = STATES.contains(wanted) ? wanted : "";
    String from = view.parameter("from").matches("[0-9]{1,6}") ? view.parameter("from") : "0";
    TextResult result = view.query(TASKS, schema, name, state.isEmpty() ? null : state, from);
    Html rows = new Html();
    int shown = Math.min(result.rows().size(), TASKS_SHOWN);
    for (@Nullable String[] row : result.rows().subList(0, shown)) {
      PageRow values = new PageRow(result, row);
      String id = values.text("task_id");
      rows.add(
              "<tr><td class=\"number\"><a href=\"{}\">{}</a></td>{}",
              SqlNames.address(TaskPage.PATH, "schema", schema, "name", name, "task", id),
              id,
              state(values))
          .add("{}{}", values.cell("group_name"), values.cell("attempts"))
          .add("{}{}", values.cell("key"), values.cell("fair"))
          .add("{}{}", values.cell("priority"), values.cell("enqueued_at"))
          .add("{}{}", values.cell("run_at"), Grid.longCell(values.get("last_error")))
          .add("<td class=\"number\">{}</td></tr>\n", values.bytes("payload_bytes"));
    }
    long first = Long.parseLong(from);
    return states(schema, name, state)
        .add(
            "{}",
            Grid.of(
                "Tasks",
                List.of(
                    "#Task",
                    "State",
                    "Group",
                    "#Attempts",
                    "Key",
                    "Fair",
                    "#Priority",
                    "Enqueued at",
                    "Run at",
                    "Last error",
                    "#Payload"),
                rows))
        .add("{}", pages(schema, name, state, first, result.rows().size() > TASKS_SHOWN));
  }

  /// State of a task.
  static Html state(PageRow values) {
    String state = values.text("state");
    String kind =
        switch (state) {
          case "DEAD" -> "bad";
          case "LEASED" -> "on";
          case "DELAYED" -> "wait";
          default -> "";
        };
    return Html.of(
        "<td><span class=\"state {}\">{}</span></td>",
        kind,
        state.toLowerCase(java.util.Locale.ROOT));
  }

  private static Html states(String schema, String name, String state) {
    Html links = choice(schema, name, "", "all", state.isEmpty());
    for (String each : STATES) {
      links.add(
          "{}",
          choice(schema, name, each, each.toLowerCase(java.util.Locale.ROOT), each.equals(state)));
    }
    return Html.of("<p class=\"choice\">Show {}</p>\n", links);
  }

  private static Html choice(
      String schema, String name, String state, String label, boolean isThis) {
    String address =
        state.isEmpty()
            ? SqlNames.address(PATH, "schema", schema, "name", name)
            : SqlNames.address(PATH, "schema", schema, "name", name, "state", state);
    return Html.of(
        isThis ? " <a href=\"{}\" aria-current=\"true\">{}</a>" : " <a href=\"{}\">{}</a>",
        address,
        label);
  }

  private static Html pages(String schema, String name, String state, long first, boolean hasMore) {
    Html links = new Html();
    if (first > 0) {
      String before = part(schema, name, state, Math.max(0, first - TASKS_SHOWN));
      links.add("<a href=\"{}\" rel=\"prev\">Earlier tasks</a> ", before);
    }
    if (hasMore) {
      String after = part(schema, name, state, first + TASKS_SHOWN);
      links.add("<a href=\"{}\" rel=\"next\">Later tasks</a>", after);
    }
    return links.isEmpty() ? links : Html.of("<p class=\"choice\">{}</p>\n", links);
  }

  /// Where the tasks from a position on are shown.
  private static String part(String schema, String name, String state, long from) {
    return SqlNames.address(
        PATH, "schema", schema, "name", name, "state", state, "from", String.valueOf(from));
  }

  /// The owner, and the options: these are the columns of the queue's row behind its counts.
  private static Html options(PageRow values) {
    List<String> columns = values.result().columns().stream().map(TextResult.Column::name).toList();
    Html rows = new Html();
    addOption(rows, "owner", values);
    columns
        .subList(columns.indexOf(LAST_COUNT) + 1, columns.size())
        .forEach(option -> addOption(rows, option, values));
    return Grid.of("Options", List.of("Option", "Value"), rows);
  }

  private static void addOption(Html rows, String option, PageRow values) {
    rows.add(
        "<tr><th scope=\"row\">{}</th>{}</tr>\n", option, Grid.cell(values.get(option), false));
  }

  // ---- actions ----

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction("/console/queue/act", Set.of("schema", "name", "act"), QueuePage::act));
  }

  private static PageAction.Outcome act(ActionView view) {
    String schema = view.field("schema");
    String name = view.field("name");
    String queue = SqlNames.quoted(schema, name);
    String act = view.field("act");
    String sql =
        switch (act) {
          case "pause" -> "ALTER QUEUE " + queue + " PAUSE";
          case "resume" -> "ALTER QUEUE " + queue + " RESUME";
          case "purge" -> "PURGE QUEUE " + queue;
          case "purge-dead" -> "PURGE QUEUE " + queue + " DEAD";
          default -> throw Problem.badRequest("a queue has no action \"" + act + "\"");
        };
    view.run(act + " queue", SqlNames.shown(schema, name), sql, List.of());
    return new PageAction.Outcome(
        SqlNames.address(PATH, "schema", schema, "name", name),
        switch (act) {
          case "pause" -> "The queue is paused: no task is handed out.";
          case "resume" -> "The queue hands out tasks again.";
          default -> "The tasks were removed.";
        });
  }
}
