package dev.kakehashi.tools.shell.command;

import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Commands about the running engine: each shows a query over `kakehashi_catalog`. Used by the shell's thread.
final class EngineCommands {
  private static final Map<String, String> QUERIES =
      Map.of(
          "jobs",
          "SELECT job_id, name, state, round((progress * 100)::numeric, 1) AS percent, tasks_finished AS tasks, round(elapsed_ms::numeric, 1) AS ms, label"
              + " FROM kakehashi_catalog.jobs ORDER BY elapsed_ms DESC",
          "locks",
          "SELECT l.transaction_id, t.label, l.table_schema || '.' || l.table_name AS \"table\", l.mode, l.granted, w.blocking_transaction_id AS waits_for"
              + " FROM kakehashi_catalog.locks l LEFT JOIN kakehashi_catalog.transactions t ON t.transaction_id = l.transaction_id"
              + " LEFT JOIN kakehashi_catalog.waits w ON w.transaction_id = l.transaction_id AND NOT l.granted ORDER BY l.granted, l.transaction_id",
          "queue",
          "SELECT queue_schema || '.' || queue_name AS queue, ready, delayed, leased, dead, done, oldest_ready, rate, enforced_rate, waiting"
              + " FROM kakehashi_catalog.queues ORDER BY 1",
          "transactions",
          "SELECT transaction_id, label, kind, isolation, state, began_at, has_writes, waiting, user_name, idle_since, commits_held FROM kakehashi_catalog.transactions ORDER BY began_at",
          "sessions",
          "SELECT session_id, client_kind, application_name, process_id, user_name, state, statement FROM kakehashi_catalog.sessions ORDER BY session_id",
          "app",
          "SELECT application_schema || '.' || application_name AS application, version, isolation, owner FROM kakehashi_catalog.applications ORDER BY 1");

  private final Shell shell;

  EngineCommands(Shell shell) {
    this.shell = shell;
  }

  /// @return false: it is another command
  boolean run(String name, CommandArguments arguments) {
    String sql = QUERIES.get(name);
    if (sql != null) {
      String word = arguments.next();
      shell.statements().run(word == null ? sql : filtered(name, sql, word), shell.print);
      return true;
    }
    if (name.equals("terminate")) {
      terminate(arguments.next());
      return true;
    }
    if (name.equals("copy")) {
      copy(arguments.rest());
      return true;
    }
    return false;
  }

  /// Rows whose first text is like a word.
  private static String filtered(String name, String sql, String word) {
    if (!name.equals("queue") && !name.equals("app")) {
      throw new ShellException("\\" + name + " takes no argument");
    }
    @Nullable String pattern = CatalogPattern.of("*" + word + "*").name();
    return "SELECT * FROM (%s) q WHERE %s LIKE %s"
        .formatted(
            sql.substring(0, sql.indexOf(" ORDER BY")),
            name.equals("queue") ? "queue" : "application",
            CatalogPattern.literal(String.valueOf(pattern)));
  }

  /// As the engine's function, which says whether there was such a transaction.
  private void terminate(@Nullable String id) {
    if (id == null || !id.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new ShellException(
          "\\terminate: which transaction? \\transactions shows their numbers");
    }
    shell.statements().run("SELECT terminate_transaction(" + id + ") AS terminated", shell.print);
  }

  private void copy(String text) {
    new CopyRun(shell).run(text);
  }
}
