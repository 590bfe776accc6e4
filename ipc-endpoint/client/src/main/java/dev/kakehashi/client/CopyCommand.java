package dev.kakehashi.client;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The engine's COPY, of rows from files or into them. Immutable; each method returns another one.
///
/// ```java
/// CopyCommand.into("sales.orders").columns("id", "total").option("format", "csv").option("header", "true");
/// ```
public final class CopyCommand {
  private final boolean load;
  private final String target;
  private final List<String> columns;
  private final List<String> options;
  private final @Nullable String condition;

  private CopyCommand(
      boolean load,
      String target,
      List<String> columns,
      List<String> options,
      @Nullable String condition) {
    this.load = load;
    this.target = target;
    this.columns = columns;
    this.options = options;
    this.condition = condition;
  }

  /// Loads rows.
  ///
  /// @param table as SQL writes it
  public static CopyCommand into(String table) {
    return new CopyCommand(true, table, List.of(), List.of(), null);
  }

  /// Dumps a table.
  ///
  /// @param table as SQL writes it
  public static CopyCommand of(String table) {
    return new CopyCommand(false, table, List.of(), List.of(), null);
  }

  /// Dumps the rows of a query.
  public static CopyCommand ofQuery(String query) {
    return new CopyCommand(false, "(" + query + "\n)", List.of(), List.of(), null);
  }

  /// Names the columns, and says in which order they are.
  public CopyCommand columns(String... names) {
    return new CopyCommand(load, target, List.of(names), options, condition);
  }

  /// An option with a value.
  public CopyCommand option(String name, String value) {
    return withOption(name + " " + literal(value));
  }

  /// An option with a list of values.
  public CopyCommand option(String name, List<String> values) {
    return withOption(
        name
            + values.stream()
                .map(CopyCommand::literal)
                .collect(Collectors.joining(", ", " (", ")")));
  }

  /// An option as SQL writes it.
  public CopyCommand option(String text) {
    return withOption(text);
  }

  private CopyCommand withOption(String text) {
    List<String> more = new ArrayList<>(options);
    more.add(text);
    return new CopyCommand(load, target, columns, List.copyOf(more), condition);
  }

  /// Loads the rows for which a condition is true.
  ///
  /// @throws IllegalArgumentException for a dump
  public CopyCommand where(String sql) {
    if (!load) {
      throw new IllegalArgumentException("a dump has no condition; dump a query");
    }
    return new CopyCommand(true, target, columns, options, sql);
  }

  /// Whether it reads files.
  public boolean isLoad() {
    return load;
  }

  /// The options as SQL writes them, without parentheses.
  public String options() {
    return String.join(", ", options);
  }

  /// The statement, with files that the endpoint reads or writes.
  ///
  /// @param location `name:path` below a location of the endpoint's settings
  public String sql(String location) {
    return text(literal(location));
  }

  /// The statement whose result is what files would hold.
  String sqlToOutput() {
    return text("STDOUT");
  }

  private String text(String place) {
    return "COPY "
        + target
        + (columns.isEmpty() ? "" : " (" + names(columns) + ")")
        + (load ? " FROM " : " TO ")
        + place
        + (options.isEmpty() ? "" : " WITH (" + options() + ")")
        + (condition == null ? "" : " WHERE " + condition);
  }

  private static String names(List<String> names) {
    return names.stream()
        .map(name -> "\"" + name.replace("\"", "\"\"") + "\"")
        .collect(Collectors.joining(", "));
  }

  /// Backslashes are themselves.
  private static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }
}
