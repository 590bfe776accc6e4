package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;

/// TPC-H's tables at scale 0.01, the same rows in schema `heap` and as foreign tables in schema `tpch`, and its queries.
public final class TpchTables {
  public static final List<String> NAMES =
      List.of("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem");

  private static final String SCALE = "0.01";

  private TpchTables() {}

  /// Makes and fills the tables.
  public static void load(Cluster cluster) throws SQLException, IOException {
    List<String> tables = Tools.run("tpch", "ddl", "--schema", "tpch").lines().toList();
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "CREATE SCHEMA heap", "CREATE SCHEMA tpch");
      for (String table : tables) {
        Sql.execute(connection, table.replace("tpch.", "heap."));
        cluster.onEngine(table.replace("tpch.", "public.").replace(";", ""));
      }
      Sql.execute(connection, "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO tpch");
      for (String table : NAMES) {
        String rows = Tools.run("tpch", "text", "--scale", SCALE, table);
        var copy = connection.unwrap(PGConnection.class).getCopyAPI();
        copy.copyIn("COPY heap." + table + " FROM STDIN", new StringReader(rows));
        copy.copyIn("COPY tpch." + table + " FROM STDIN", new StringReader(rows));
      }
      Sql.execute(connection, "ANALYZE");
    }
  }

  /// The text of a query; 15 has statements before and after it that make and drop a view.
  ///
  /// @param number 1 to 22
  public static String query(int number) {
    // The comments of the texts contain semicolons.
    String text =
        Tools.run("tpch", "query", Integer.toString(number))
            .lines()
            .filter(line -> !line.startsWith("--"))
            .collect(Collectors.joining("\n"))
            .strip();
    return text.endsWith(";") ? text.substring(0, text.length() - 1) : text;
  }
}
