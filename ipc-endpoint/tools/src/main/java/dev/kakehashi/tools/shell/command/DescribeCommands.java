package dev.kakehashi.tools.shell.command;

import dev.kakehashi.formats.TypeName;
import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.print.Cells;
import dev.kakehashi.tools.shell.print.PrintFormat;
import dev.kakehashi.tools.shell.print.PrintOptions;
import dev.kakehashi.tools.shell.print.ResultPrinter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// `\d` and its kin: what there is, by queries over `kakehashi_catalog`. Used by the shell's thread.
final class DescribeCommands {
  private static final String OWNERS =
      "(SELECT DISTINCT object_schema, object_name, owner FROM kakehashi_catalog.privileges"
          + " WHERE column_name IS NULL AND object_type IN ('table', 'view', 'sequence')) o";

  private static final Set<String> NAMES =
      Set.of(
          "d", "dt", "dv", "ds", "dtv", "dvt", "dts", "dtvs", "di", "dn", "du", "dg", "df", "dp",
          "z", "l", "list", "dd", "sv");

  private final Shell shell;

  DescribeCommands(Shell shell) {
    this.shell = shell;
  }

  /// @return false: it is another command
  boolean run(String name, CommandArguments arguments) {
    String base = name.replace("+", "").replace("S", "");
    if (!NAMES.contains(base)) {
      return false;
    }
    @Nullable String word = arguments.next();
    switch (base) {
      case "d" -> {
        if (word == null) {
          relations("tvs", CatalogPattern.of(null));
        } else {
          describe(CatalogPattern.of(word), word);
        }
      }
      case "dt", "dv", "ds", "dtv", "dvt", "dts", "dtvs" ->
          relations(base.substring(1), CatalogPattern.of(word));
      case "di" -> indexes(CatalogPattern.of(word));
      case "dn" -> schemas(CatalogPattern.of(word));
      case "du", "dg" -> roles(CatalogPattern.of(word));
      case "df" -> functions(CatalogPattern.of(word));
      case "dp", "z" -> privileges(CatalogPattern.of(word));
      case "l", "list" -> databases();
      case "dd" -> comments(CatalogPattern.of(word));
      default -> view(word);
    }
    return true;
  }

  // ---- lists ----

  private void list(String title, String sql) {
    Cells cells = shell.statements().query(sql);
    if (cells != null) {
      print(title, cells, null);
    }
  }

  private void print(String title, Cells cells, @Nullable String footer) {
    PrintOptions options = shell.print.copy();
    options.title = title;
    if (options.format == PrintFormat.JSON) {
      options.format = PrintFormat.CSV;
    }
    try {
      shell.paged(out -> new ResultPrinter(options, out).print(cells, footer));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void relations(String kinds, CatalogPattern pattern) {
    List<String> parts = new ArrayList<>();
    if (kinds.contains("t")) {
      parts.add(
          "SELECT table_schema AS s, table_name AS n, 'table' AS t FROM kakehashi_catalog.tables");
    }
    if (kinds.contains("v")) {
      parts.add(
          "SELECT table_schema AS s, table_name AS n, 'view' AS t FROM kakehashi_catalog.views");
    }
    if (kinds.contains("s")) {
      parts.add(
          "SELECT sequence_schema AS s, sequence_name AS n, 'sequence' AS t FROM kakehashi_catalog.sequences");
    }
    String sql =
        "SELECT s AS \"Schema\", n AS \"Name\", t AS \"Type\", owner AS \"Owner\" FROM ("
            + String.join(" UNION ALL ", parts)
            + ") r LEFT JOIN "
            + OWNERS
            + " ON o.object_schema = s AND o.object_name = n WHERE "
            + pattern.condition("s", "n")
            + " ORDER BY 1, 2";
    Cells cells = shell.statements().query(sql);
    if (cells == null) {
      return;
    }
    if (cells.rows().isEmpty() && pattern.name() == null) {
      shell.err.println("Did not find any relations.");
      return;
    }
    if (cells.rows().isEmpty()) {
      shell.err.println("Did not find any relation named like that.");
      return;
    }
    print("List of relations", cells, null);
  }

  private void indexes(CatalogPattern pattern) {
    list(
        "List of relations",
        "SELECT table_schema AS \"Schema\", index_name AS \"Name\", 'index' AS \"Type\", table_name AS \"Table\""
            + " FROM kakehashi_catalog.indexes WHERE "
            + pattern.condition("table_schema", "index_name")
            + " GROUP BY table_schema, index_name, table_name ORDER BY 1, 2");
  }

  private void schemas(CatalogPattern pattern) {
    list(
        "List of schemas",
        "SELECT schema_name AS \"Name\", owner AS \"Owner\" FROM information_schema.schemata LEFT JOIN"
            + " (SELECT DISTINCT object_name, owner FROM kakehashi_catalog.privileges WHERE object_type = 'schema') o"
            + " ON o.object_name = schema_name WHERE schema_name NOT IN ('kakehashi_catalog', 'information_schema') AND "
            + pattern.condition("schema_name")
            + " ORDER BY 1");
  }

  private void roles(CatalogPattern pattern) {
    list(
        "List of roles",
        "SELECT r.role_name AS \"Role name\", concat_ws(', ', CASE WHEN is_superuser THEN 'Superuser' END,"
            + " CASE WHEN NOT inherits THEN 'No inheritance' END, CASE WHEN can_create_roles THEN 'Create role' END,"
            + " CASE WHEN can_create_databases THEN 'Create DB' END, CASE WHEN NOT can_log_in THEN 'Cannot login' END)"
            + " AS \"Attributes\", '{' || coalesce((SELECT string_agg(m.role_name, ',' ORDER BY m.role_name)"
            + " FROM kakehashi_catalog.role_members m WHERE m.member_name = r.role_name), '') || '}' AS \"Member of\""
            + " FROM kakehashi_catalog.roles r WHERE "
            + pattern.condition("r.role_name")
            + " ORDER BY 1");
  }

  private void functions(CatalogPattern pattern) {
    list(
        "List of functions",
        "SELECT f.function_schema AS \"Schema\", f.function_name AS \"Name\", "
            + parameters("out")
            + " AS \"Result data type\", "
            + parameters("in")
            + " AS \"Argument data types\", f.kind AS \"Type\" FROM kakehashi_catalog.functions f WHERE "
            + pattern.condition("f.function_schema", "f.function_name")
            + " ORDER BY 1, 2, 4");
  }

  private void privileges(CatalogPattern pattern) {
    list(
        "Access privileges",
        "SELECT object_schema AS \"Schema\", object_name AS \"Name\", object_type AS \"Type\", grantee AS \"Grantee\","
            + " string_agg(privilege || CASE WHEN is_grantable THEN '*' ELSE '' END, ', ' ORDER BY privilege) AS \"Privileges\","
            + " column_name AS \"Column\" FROM kakehashi_catalog.privileges WHERE object_schema IS NOT NULL AND "
            + pattern.condition("object_schema", "object_name")
            + " GROUP BY object_schema, object_name, object_type, grantee, column_name ORDER BY 1, 2, 6, 4");
  }

  /// Types of a function's parameters of a mode, as a subquery.
  private static String parameters(String mode) {
    return "(SELECT string_agg(trim(coalesce(p.parameter_name, '') || ' ' || p.data_type), ', ' ORDER BY p.ordinal_position)"
        + " FROM kakehashi_catalog.function_parameters p WHERE p.function_schema = f.function_schema"
        + " AND p.function_name = f.function_name AND p.function_number = f.function_number AND p.mode = '"
        + mode
        + "')";
  }

  private void databases() {
    list(
        "List of databases",
        "SELECT DISTINCT catalog_name AS \"Name\", 'UTF8' AS \"Encoding\", 'C' AS \"Collate\" FROM information_schema.schemata");
  }

  private void comments(CatalogPattern pattern) {
    list(
        "Object descriptions",
        "SELECT object_schema AS \"Schema\", object_name AS \"Name\", object_type AS \"Object\", comment AS \"Description\""
            + " FROM kakehashi_catalog.comments WHERE object_schema IS NOT NULL AND "
            + pattern.condition("object_schema", "object_name")
            + " ORDER BY 1, 2");
  }

  private void view(@Nullable String word) {
    CatalogPattern pattern = CatalogPattern.of(word);
    Cells cells =
        shell
            .statements()
            .query(
                "SELECT table_schema || '.' || table_name, view_definition FROM kakehashi_catalog.views WHERE "
                    + pattern.condition("table_schema", "table_name"));
    if (cells == null) {
      return;
    }
    if (cells.rows().isEmpty()) {
      throw new ShellException("relation \"" + word + "\" is not a view");
    }
    for (@Nullable String[] row : cells.rows()) {
      shell.write("CREATE OR REPLACE VIEW " + row[0] + " AS\n" + row[1] + "\n");
    }
  }

  // ---- one relation ----

  private void describe(CatalogPattern pattern, String word) {
    Cells found =
        shell
            .statements()
            .query(
                "SELECT s, n, t FROM (SELECT table_schema AS s, table_name AS n, 'Table' AS t FROM kakehashi_catalog.tables"
                    + " UNION ALL SELECT table_schema, table_name, 'View' FROM kakehashi_catalog.views"
                    + " UNION ALL SELECT sequence_schema, sequence_name, 'Sequence' FROM kakehashi_catalog.sequences) r WHERE "
                    + pattern.condition("s", "n")
                    + " ORDER BY s, n");
    if (found == null) {
      return;
    }
    if (found.rows().isEmpty()) {
      shell.err.println("Did not find any relation named \"" + word + "\".");
      return;
    }
    for (@Nullable String[] row : found.rows()) {
      String schema = String.valueOf(row[0]);
      String name = String.valueOf(row[1]);
      if ("Sequence".equals(row[2])) {
        sequence(schema, name);
      } else {
        relation(schema, name, String.valueOf(row[2]));
      }
    }
  }

  private void sequence(String schema, String name) {
    list(
        "Sequence \"%s.%s\"".formatted(schema, name),
        "SELECT type_oid AS \"Type\", start_value AS \"Start\", min_value AS \"Minimum\", max_value AS \"Maximum\","
            + " increment_by AS \"Increment\", CASE WHEN cycles THEN 'yes' ELSE 'no' END AS \"Cycles?\""
            + " FROM kakehashi_catalog.sequences WHERE sequence_schema = "
            + CatalogPattern.literal(schema)
            + " AND sequence_name = "
            + CatalogPattern.literal(name));
  }

  private static String ofTable(String schema, String name) {
    return " WHERE table_schema = "
        + CatalogPattern.literal(schema)
        + " AND table_name = "
        + CatalogPattern.literal(name);
  }

  private void relation(String schema, String name, String kind) {
    Cells columns =
        shell
            .statements()
            .query(
                "SELECT column_name, type_oid, type_modifier, not_null, column_default, generation_expression, generated"
                    + " FROM kakehashi_catalog.columns"
                    + ofTable(schema, name)
                    + " ORDER BY ordinal_position");
    if (columns == null) {
      return;
    }
    Cells cells = Cells.ofTexts("Column", "Type", "Collation", "Nullable", "Default");
    for (@Nullable String[] row : columns.rows()) {
      int oid = Integer.parseInt(String.valueOf(row[1]));
      int modifier = row[2] == null ? -1 : Integer.parseInt(row[2]);
      cells
          .rows()
          .add(
              new @Nullable String[] {
                row[0],
                TypeName.of(oid, modifier),
                "",
                "t".equals(row[3]) ? "not null" : "",
                standard(row[4], row[5], row[6])
              });
    }
    String footer = kind.equals("Table") ? footer(schema, name) : "";
    print("%s \"%s.%s\"".formatted(kind, schema, name), cells, footer);
  }

  private static String standard(
      @Nullable String value, @Nullable String expression, @Nullable String generated) {
    if (expression != null) {
      return "generated always as (" + expression + ") stored";
    }
    if (generated != null && generated.toLowerCase(java.util.Locale.ROOT).contains("identity")) {
      return generated.toLowerCase(java.util.Locale.ROOT);
    }
    return value == null ? "" : value;
  }

  /// Lines below the columns: indexes, checks, foreign keys, what refers to the table.
  private String footer(String schema, String name) {
    StringBuilder text = new StringBuilder();
    section(text, "Indexes:", indexLines(schema, name));
    section(
        text,
        "Check constraints:",
        lines(
            "SELECT constraint_name, check_clause FROM kakehashi_catalog.check_constraints"
                + ofTable(schema, name)
                + " ORDER BY 1",
            row -> "\"%s\" CHECK (%s)".formatted(row[0], row[1])));
    section(text, "Foreign-key constraints:", referenceLines(schema, name, false));
    section(text, "Referenced by:", referenceLines(schema, name, true));
    return text.isEmpty() ? "" : text.substring(0, text.length() - 1);
  }

  private static void section(StringBuilder text, String head, List<String> lines) {
    if (!lines.isEmpty()) {
      text.append(head).append('\n');
      lines.forEach(line -> text.append("    ").append(line).append('\n'));
    }
  }

  private interface Line {
    String of(@Nullable String[] row);
  }

  private List<String> lines(String sql, Line line) {
    Cells cells = shell.statements().query(sql);
    return cells == null ? List.of() : cells.rows().stream().map(line::of).toList();
  }

  private List<String> indexLines(String schema, String name) {
    return lines(
        "SELECT index_name, bool_or(is_primary), bool_or(is_unique), bool_or(is_partial),"
            + " string_agg(coalesce(column_name, '(expression)') || CASE WHEN is_descending THEN ' DESC' ELSE '' END, ', ' ORDER BY key_position)"
            + " FROM kakehashi_catalog.indexes"
            + ofTable(schema, name)
            + " GROUP BY index_name ORDER BY 2 DESC, 1",
        row ->
            "\"%s\" %s (%s)%s"
                .formatted(
                    row[0],
                    "t".equals(row[1])
                        ? "PRIMARY KEY, btree"
                        : "t".equals(row[2]) ? "UNIQUE, btree" : "btree",
                    row[4],
                    "t".equals(row[3]) ? " WHERE ..." : ""));
  }

  private List<String> referenceLines(String schema, String name, boolean back) {
    String where =
        back
            ? " WHERE referenced_schema = "
                + CatalogPattern.literal(schema)
                + " AND referenced_table = "
                + CatalogPattern.literal(name)
            : ofTable(schema, name);
    Cells cells =
        shell
            .statements()
            .query(
                "SELECT table_schema, table_name, constraint_name, column_name, referenced_schema, referenced_table,"
                    + " referenced_column, update_rule, delete_rule FROM kakehashi_catalog.foreign_keys"
                    + where
                    + " ORDER BY table_schema, table_name, constraint_name, key_position");
    Map<String, List<@Nullable String[]>> byName = new LinkedHashMap<>();
    if (cells != null) {
      for (@Nullable String[] row : cells.rows()) {
        byName
            .computeIfAbsent(row[0] + "." + row[1] + "." + row[2], _ -> new ArrayList<>())
            .add(row);
      }
    }
    List<String> lines = new ArrayList<>();
    byName
        .values()
        .forEach(rows -> {
          @Nullable String[] first = rows.getFirst();
          String from =
              String.join(", ", rows.stream().map(row -> String.valueOf(row[3])).toList());
          String to = String.join(", ", rows.stream().map(row -> String.valueOf(row[6])).toList());
          String target = ("public".equals(first[4]) ? "" : first[4] + ".") + first[5];
          String line =
              "\"%s\" FOREIGN KEY (%s) REFERENCES %s(%s)".formatted(first[2], from, target, to)
                  + rule(" ON UPDATE ", first[7])
                  + rule(" ON DELETE ", first[8]);
          lines.add(
              back
                  ? "TABLE \"%s%s\" CONSTRAINT %s"
                      .formatted("public".equals(first[0]) ? "" : first[0] + ".", first[1], line)
                  : line);
        });
    return lines;
  }

  private static String rule(String head, @Nullable String rule) {
    return rule == null || rule.equals("NO ACTION") ? "" : head + rule;
  }
}
