package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Memory, log, checkpoint and backup.
final class StoragePage implements ConsolePage {
  private static final String MEMORY =
      "SELECT limit_bytes, reserved_bytes, used_bytes, changes_held, commits_held FROM kakehashi_catalog.memory";
  private static final String STORAGE = "SELECT * FROM kakehashi_catalog.storage";
  private static final String TABLES =
      """
      SELECT m.table_schema, m.table_name, t.row_count, m.total_bytes, m.page_bytes, m.value_bytes, m.index_bytes, m.row_bytes
      FROM kakehashi_catalog.table_memory m
        JOIN kakehashi_catalog.tables t ON t.table_schema = m.table_schema AND t.table_name = m.table_name
      ORDER BY m.total_bytes DESC, 1, 2 LIMIT 200\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry("/console/storage", "Storage");
  }

  @Override
  public int refreshSeconds() {
    return 3;
  }

  @Override
  public Html live(PageView view) {
    return Html.of("<h2>Memory</h2>\n{}", memory(view))
        .add("<h2>Log, checkpoint, backup</h2>\n{}", storage(view))
        .add("<h2>Tables</h2>\n{}", tables(view));
  }

  private static Html memory(PageView view) {
    PageRow values = PageRow.first(view.query(MEMORY));
    return new Cards()
        .add("Reserved", values.bytes("reserved_bytes"), "of " + values.bytes("limit_bytes"))
        .add("Used", values.bytes("used_bytes"), "of what is reserved")
        .add("Commits held", values.get("commits_held"), "by the oldest reader")
        .add("Changes to be collected", values.get("changes_held"), "")
        .html();
  }

  private static Html storage(PageView view) {
    TextResult result = view.query(STORAGE);
    if (result.rows().isEmpty()) {
      return Html.of("<p class=\"none\">Only members of pg_monitor see it.</p>\n");
    }
    PageRow values = PageRow.first(result);
    return new Cards()
        .add("Log to apply", values.bytes("log_unapplied_bytes"), "not in the base image yet")
        .add(
            "Log since the checkpoint",
            values.bytes("log_bytes"),
            values.get("log_segments") + " segments")
        .add("Group commits", values.get("groups"), values.get("commits") + " commits")
        .add("Commits in a group", mean(values, "commits", "groups", 1), "mean since the start")
        .add(
            "Time of a flush",
            mean(values, "flush_us", "groups", 1000) + " ms",
            "mean since the start")
        .add("Checkpoints", values.get("checkpoints"), last(values, "last_checkpoint"))
        .add("Backups", values.get("backups"), last(values, "last_backup"))
        .add(
            "Free on the disk", values.bytes("disk_free_bytes"), "of " + values.bytes("disk_bytes"))
        .html();
  }

  private static String last(PageRow values, String column) {
    return values.get(column) == null ? "since the start" : "last " + values.text(column);
  }

  private static String mean(PageRow values, String sum, String count, double unit) {
    long divisor = values.number(count);
    return divisor == 0
        ? "–"
        : String.format(Locale.ROOT, "%.2f", values.number(sum) / unit / divisor);
  }

  private static Html tables(PageView view) {
    TextResult result = view.query(TABLES);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add(
              "<tr><td>{}</td>{}",
              SqlNames.shown(values.text("table_schema"), values.text("table_name")),
              values.cell("row_count"))
          .add("<td class=\"number\">{}</td>", values.bytes("total_bytes"))
          .add("<td class=\"number\">{}</td>", values.bytes("page_bytes"))
          .add("<td class=\"number\">{}</td>", values.bytes("value_bytes"))
          .add("<td class=\"number\">{}</td>", values.bytes("index_bytes"))
          .add("{}</tr>\n", values.cell("row_bytes"));
    }
    return Grid.of(
        "Tables",
        List.of("Table", "#Rows", "#Memory", "#Pages", "#Values", "#Indexes", "#A row"),
        rows);
  }
}
