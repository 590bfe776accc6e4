package dev.kakehashi.console.page;

import dev.kakehashi.console.access.AuditLog;
import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Actions of users in the console.
final class AuditPage implements ConsolePage {
  private static final String AUDIT =
      """
      SELECT audit_id, acted_at, user_name, address, action, object, statement, outcome
      FROM kakehashi_console.audit ORDER BY audit_id DESC LIMIT 200\
      """;

  private final AuditLog audit;

  AuditPage(AuditLog audit) {
    this.audit = audit;
  }

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry("/console/audit", "Audit");
  }

  @Override
  public Html live(PageView view) {
    audit.prepare();
    TextResult result = view.query(AUDIT);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add("<tr>{}{}", values.cell("audit_id"), values.cell("acted_at"))
          .add("{}{}", values.cell("user_name"), values.cell("address"))
          .add("{}{}", values.cell("action"), values.cell("object"))
          .add(
              "{}{}</tr>\n",
              Grid.longCell(values.get("statement")),
              Grid.longCell(values.get("outcome")));
    }
    return Html.of(
        "<p>The newest 200 actions in the console.</p>\n{}",
        Grid.of(
            "Actions",
            List.of("#Number", "At", "User", "From", "Action", "Object", "Statement", "Outcome"),
            rows));
  }
}
