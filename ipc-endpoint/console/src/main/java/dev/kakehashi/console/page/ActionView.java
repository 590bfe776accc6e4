package dev.kakehashi.console.page;

import dev.kakehashi.console.access.AuditLog;
import dev.kakehashi.console.access.Visitor;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.sql.TextQueries;
import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// One form that a visitor has sent. Its action is done in his name and noted. One thread.
final class ActionView {
  private static final TextQueries.Limits LIMITS =
      new TextQueries.Limits(1, 1_000, 10_000, 60_000_000_000L);
  private static final TextQueries.Limits WHOLE =
      new TextQueries.Limits(1, 1 << 20, 1 << 21, 10_000_000_000L);
  private static final int MAX_DIGITS = 9;

  private final Visitor visitor;
  private final TextQueries queries;
  private final AuditLog audit;
  private final Map<String, String> form;

  ActionView(Visitor visitor, TextQueries queries, AuditLog audit, Map<String, String> form) {
    this.visitor = visitor;
    this.queries = queries;
    this.audit = audit;
    this.form = form;
  }

  TextQueries queries() {
    return queries;
  }

  Visitor visitor() {
    return visitor;
  }

  /// @throws Problem 400: the form has not this field
  String field(String name) {
    String value = form.get(name);
    if (value == null) {
      throw Problem.badRequest("the form has no field \"" + name + "\"");
    }
    return value;
  }

  /// A whole number.
  ///
  /// @throws Problem 400: it is none
  long number(String name) {
    String text = field(name).strip();
    if (text.isEmpty()
        || text.length() > MAX_DIGITS
        || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw Problem.badRequest("\"" + name + "\" must be a whole number");
    }
    return Long.parseLong(text);
  }

  /// Any number, as a transaction's handle.
  ///
  /// @throws Problem 400: it is none
  long longField(String name) {
    try {
      return Long.parseLong(field(name));
    } catch (NumberFormatException e) {
      throw Problem.badRequest("\"" + name + "\" must be a number");
    }
  }

  /// Asks for one row that an action needs; its values are whole.
  TextResult look(String sql, List<String> parameters) {
    return queries.run(visitor.user(), sql, List.copyOf(parameters), WHOLE, cancel -> {});
  }

  /// Runs a statement as the action.
  TextResult run(String action, String object, String sql, List<String> parameters) {
    TextResult[] result = new TextResult[1];
    audit.run(
        visitor,
        action,
        object,
        sql,
        () -> {
          TextResult now =
              queries.run(visitor.user(), sql, List.copyOf(parameters), LIMITS, cancel -> {});
          result[0] = now;
          return now.rowCount() >= 0 ? "done, " + now.rowCount() + " rows" : "done";
        });
    return result[0];
  }

  /// Does something that is no statement.
  String run(String action, String object, Supplier<String> act) {
    return audit.run(visitor, action, object, null, act);
  }
}
