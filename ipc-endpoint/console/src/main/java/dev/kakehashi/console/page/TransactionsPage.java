package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Grid;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Open transactions, who blocks whom, locks of tables, and what is prepared.
final class TransactionsPage implements ConsolePage {
  static final String PATH = "/console/transactions";

  /// Levels of the tree of waits: more than a cycle that is not broken yet may have.
  private static final int MAX_DEPTH = 20;

  private static final String TRANSACTIONS =
      """
      SELECT t.transaction_id, t.label, t.kind, t.isolation, t.state, now() - t.began_at AS age, t.has_writes, t.waiting,
        t.commits_held, t.handle, t.user_name, now() - t.idle_since AS idle, s.application_name, s.statement
      FROM kakehashi_catalog.transactions t LEFT JOIN kakehashi_catalog.sessions s ON s.handle = t.handle
      ORDER BY t.began_at LIMIT 200\
      """;
  private static final String WAITS =
      """
      SELECT transaction_id, process_id, blocking_transaction_id, blocking_process_id, blocking_gid
      FROM kakehashi_catalog.waits ORDER BY wait_id LIMIT 500\
      """;
  private static final String LOCKS =
      """
      SELECT table_schema, table_name, mode, granted, transaction_id
      FROM kakehashi_catalog.locks ORDER BY granted, table_schema, table_name, transaction_id LIMIT 500\
      """;
  private static final String PREPARED =
      """
      SELECT transaction_id, gid, prepared_at, now() - prepared_at AS age, owner, user_name
      FROM kakehashi_catalog.prepared_transactions ORDER BY prepared_at LIMIT 200\
      """;

  @Override
  public Frame.Entry entry() {
    return new Frame.Entry(PATH, "Transactions and locks");
  }

  @Override
  public int refreshSeconds() {
    return 2;
  }

  @Override
  public Html live(PageView view) {
    TextResult transactions = view.query(TRANSACTIONS);
    return Html.of("<h2>Who blocks whom</h2>\n{}", waits(view, transactions))
        .add("<h2>Transactions</h2>\n{}", transactions(view, transactions))
        .add("<h2>Locks of tables</h2>\n{}", locks(view))
        .add("<h2>Prepared transactions</h2>\n{}", prepared(view));
  }

  // ---- who blocks whom ----

  private static Html waits(PageView view, TextResult transactions) {
    TextResult result = view.query(WAITS);
    if (result.rows().isEmpty()) {
      return Html.of("<p class=\"none\">No transaction waits for another.</p>\n");
    }
    Map<String, List<String>> waiters = new LinkedHashMap<>();
    Map<String, String> names = new HashMap<>();
    Set<String> waiting = new java.util.HashSet<>();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      String waiter = values.text("transaction_id");
      String blocker = values.text("blocking_transaction_id");
      waiters.computeIfAbsent(blocker, key -> new ArrayList<>()).add(waiter);
      waiting.add(waiter);
      if (values.get("blocking_gid") != null) {
        names.put(blocker, "prepared as " + values.text("blocking_gid"));
      }
    }
    for (@Nullable String[] row : transactions.rows()) {
      PageRow values = new PageRow(transactions, row);
      names.putIfAbsent(
          values.text("transaction_id"),
          String.join(
                  " ",
                  values.text("user_name"),
                  values.text("application_name"),
                  values.text("label"))
              .strip());
    }
    Html tree = new Html();
    boolean isRooted = false;
    for (String blocker : waiters.keySet()) {
      if (!waiting.contains(blocker)) {
        isRooted = true;
        tree.add("{}", branch(blocker, waiters, names, 0));
      }
    }
    if (!isRooted) {
      // A cycle, which is about to be broken.
      tree.add("{}", branch(waiters.keySet().iterator().next(), waiters, names, 0));
    }
    return Html.of("<ul class=\"tree\">\n{}</ul>\n", tree);
  }

  private static Html branch(
      String transaction, Map<String, List<String>> waiters, Map<String, String> names, int depth) {
    Html item =
        Html.of(
            "<li><span class=\"state {}\">{}</span> transaction {} <small>{}</small>",
            depth == 0 ? "bad" : "wait",
            depth == 0 ? "blocks" : "waits",
            transaction,
            names.get(transaction));
    List<String> below = waiters.get(transaction);
    if (below != null && depth < MAX_DEPTH) {
      Html items = new Html();
      for (String each : below) {
        items.add("{}", branch(each, waiters, names, depth + 1));
      }
      item.add("\n<ul>\n{}</ul>\n", items);
    }
    return item.add("</li>\n");
  }

  // ---- transactions ----

  private static Html transactions(PageView view, TextResult result) {
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add("<tr>{}{}", values.cell("transaction_id"), values.cell("user_name"))
          .add("{}{}", values.cell("application_name"), values.cell("label"))
          .add("{}{}", values.cell("kind"), values.cell("isolation"))
          .add(
              "<td><span class=\"state {}\">{}</span></td>",
              values.isTrue("waiting") ? "wait" : "",
              values.isTrue("waiting") ? "waits" : values.get("state"))
          .add("<td class=\"number\">{}</td>", values.age("age"))
          .add("<td class=\"number\">{}</td>", values.age("idle"))
          .add(
              "<td>{}</td>{}",
              values.isTrue("has_writes") ? "yes" : "no",
              values.cell("commits_held"))
          .add("{}<td class=\"acts\">", Grid.longCell(values.get("statement")));
      if (values.get("handle") != null) {
        rows.add(
            "{}{}",
            StatementsPage.cancel(view, values.text("handle"), PATH),
            rollBack(view, values));
      }
      rows.add("</td></tr>\n");
    }
    return Grid.of(
        "Transactions",
        List.of(
            "#Transaction",
            "User",
            "Application",
            "Label",
            "Kind",
            "Isolation",
            "State",
            "#Age",
            "#Idle",
            "Writes",
            "#Commits held",
            "Statement",
            "Actions"),
        rows);
  }

  /// A visitor who sees the handle of another's transaction mostly may end it; otherwise it is refused.
  private static Html rollBack(PageView view, PageRow values) {
    boolean isOwn = view.visitor().user().name().equals(values.get("user_name"));
    return Html.of(
        """
        <form method="post" action="/console/transactions/rollback">{}<input type="hidden" name="handle" value="{}">\
        <button data-confirm="{}">Roll back</button></form>\
        """,
        view.csrf(),
        values.get("handle"),
        isOwn
            ? "Roll the transaction back?"
            : "Roll the transaction of " + values.text("user_name") + " back?");
  }

  private static Html locks(PageView view) {
    TextResult result = view.query(LOCKS);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      String table =
          values.get("table_name") == null
              ? "the catalogue"
              : SqlNames.shown(values.text("table_schema"), values.text("table_name"));
      boolean isGranted = values.isTrue("granted");
      rows.add("<tr><td>{}</td>{}", table, values.cell("mode"))
          .add(
              "<td><span class=\"state {}\">{}</span></td>{}</tr>\n",
              isGranted ? "" : "wait",
              isGranted ? "held" : "waits",
              values.cell("transaction_id"));
    }
    return Grid.of("Locks", List.of("Table", "Mode", "State", "#Transaction"), rows);
  }

  private static Html prepared(PageView view) {
    TextResult result = view.query(PREPARED);
    Html rows = new Html();
    for (@Nullable String[] row : result.rows()) {
      PageRow values = new PageRow(result, row);
      rows.add("<tr>{}{}", values.cell("transaction_id"), values.cell("gid"))
          .add("{}<td class=\"number\">{}</td>", values.cell("prepared_at"), values.age("age"))
          .add("{}<td class=\"acts\">", values.cell("user_name"))
          .add(
              "{}{}</td></tr>\n", decide(view, values, "commit"), decide(view, values, "rollback"));
    }
    return Grid.of(
        "Prepared transactions",
        List.of("#Transaction", "Name", "Prepared at", "#Age", "User", "Actions"),
        rows);
  }

  private static Html decide(PageView view, PageRow values, String decision) {
    return Html.of(
        """
        <form method="post" action="/console/transactions/decide">{}<input type="hidden" name="gid" value="{}">\
        <input type="hidden" name="decision" value="{}"><button data-confirm="{} the prepared transaction?">{}</button></form>\
        """,
        view.csrf(),
        values.get("gid"),
        decision,
        decision.equals("commit") ? "Commit" : "Roll back",
        decision.equals("commit") ? "Commit" : "Roll back");
  }

  @Override
  public List<PageAction> actions() {
    return List.of(
        new PageAction(PATH + "/rollback", Set.of("handle"), TransactionsPage::rollBack),
        new PageAction(PATH + "/decide", Set.of("gid", "decision"), TransactionsPage::decide));
  }

  private static PageAction.Outcome rollBack(ActionView view) {
    long handle = view.longField("handle");
    String outcome =
        view.run(
            "roll back",
            "transaction " + handle,
            () ->
                view.queries().rollBack(view.visitor().user(), handle)
                    ? "rolled back"
                    : "no such transaction");
    if (!outcome.equals("rolled back")) {
      throw Problem.notFound("there is no such transaction, or you may not end it");
    }
    return new PageAction.Outcome(PATH, "The transaction was rolled back.");
  }

  private static PageAction.Outcome decide(ActionView view) {
    String gid = Objects.requireNonNull(view.field("gid"));
    boolean commits = view.field("decision").equals("commit");
    view.run(
        commits ? "commit prepared" : "roll back prepared",
        gid,
        (commits ? "COMMIT PREPARED " : "ROLLBACK PREPARED ") + SqlNames.literal(gid),
        List.of());
    return new PageAction.Outcome(
        PATH,
        commits
            ? "The prepared transaction was committed."
            : "The prepared transaction was rolled back.");
  }
}
