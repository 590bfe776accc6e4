package dev.kakehashi.pgtests.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.zip.ZipFile;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/// TPC-H's tables, the same rows in schema `heap` and as foreign tables in schema `tpch`, and its queries.
///
/// The scale is 0.01, or what the system property `kakehashi.scale` says (1 takes four minutes and 12 GB of memory).
public final class TpchTables {
  public static final List<String> NAMES =
      List.of("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem");

  private static final String SCALE = System.getProperty("kakehashi.scale", "0.01");

  /// Without those on foreign keys PostgreSQL needs hours for queries 17 and 20 of larger scales.
  private static final List<String> INDEXES =
      List.of(
          "CREATE INDEX lineitem_part ON %s.lineitem (l_partkey, l_suppkey)",
          "CREATE INDEX partsupp_supplier ON %s.partsupp (ps_suppkey)",
          "CREATE INDEX orders_customer ON %s.orders (o_custkey)");

  private static final int ROWS_PER_TRANSACTION = 500_000;

  /// By number.
  private static final Map<Integer, String> TEXTS = new ConcurrentHashMap<>();

  private TpchTables() {}

  /// The endpoint's setting of the memory that the tables need.
  public static String memory() {
    return "memory=" + (int) Math.ceil(8 * Double.parseDouble(SCALE)) + "GB";
  }

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
        CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
        Path file = Files.createTempFile("tpch-" + table, ".copy");
        try {
          try (Tools.Output rows = Tools.start("tpch", "text", "--scale", SCALE, table)) {
            Files.copy(rows.stream(), file, StandardCopyOption.REPLACE_EXISTING);
          }
          copy.copyIn("COPY heap." + table + " FROM STDIN", Files.newBufferedReader(file));
          copyInPieces(copy, "tpch." + table, file);
        } finally {
          Files.delete(file);
        }
      }
      for (String index : INDEXES) {
        Sql.execute(connection, index.formatted("heap"));
        cluster.onEngine(index.formatted("public"));
      }
      cluster.onEngine("ANALYZE");
      Sql.execute(connection, "ANALYZE");
    }
  }

  /// A transaction's changes have to fit into the endpoint's heap before they are committed.
  private static void copyInPieces(CopyManager copy, String table, Path file)
      throws SQLException, IOException {
    try (BufferedReader rows = Files.newBufferedReader(file)) {
      var piece = new StringBuilder();
      int count = 0;
      for (String row = rows.readLine(); row != null; row = rows.readLine()) {
        piece.append(row).append('\n');
        count++;
        if (count % ROWS_PER_TRANSACTION == 0) {
          copy.copyIn("COPY " + table + " FROM STDIN", new StringReader(piece.toString()));
          piece.setLength(0);
        }
      }
      copy.copyIn("COPY " + table + " FROM STDIN", new StringReader(piece.toString()));
    }
  }

  /// The text of a query; 15 has statements before and after it that make and drop a view.
  ///
  /// @param number 1 to 22
  public static String query(int number) {
    return TEXTS.computeIfAbsent(number, TpchTables::read);
  }

  /// From the jar of the tools: a JVM for each of 22 queries costs more than the queries.
  private static String read(int number) {
    Path tools = Installation.runDirectory().resolve("lib/kakehashi-tools.jar");
    String name = "io/trino/tpch/queries/q" + number + ".sql";
    try (ZipFile jar = new ZipFile(tools.toFile());
        InputStream query = jar.getInputStream(jar.getEntry(name))) {
      // The comments of the texts contain semicolons.
      String text =
          new String(query.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> !line.startsWith("--"))
              .collect(Collectors.joining("\n"))
              .strip();
      return text.endsWith(";") ? text.substring(0, text.length() - 1) : text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The rows of a query that the engine runs as a whole.
  public static List<String> rowsOfEngine(Connection connection, int number) throws SQLException {
    String query = statement(number);
    return Sql.rows(connection, onEngine(query) + " AS t" + columns(connection, query));
  }

  /// A query as one statement that both sides know: the view of query 15 as a query of WITH. A type that is called as a function is
  /// PostgreSQL's own.
  public static String statement(int number) {
    String text = query(number).replaceAll("date\\(('[^']*')\\)", "DATE $1");
    if (number != 15) {
      return text;
    }
    String[] statements = text.split(";", -1);
    String view =
        statements[0].strip().replaceFirst("(?i)^CREATE OR REPLACE VIEW (\\w+) AS", "WITH $1 AS (");
    return view + ")" + statements[1];
  }

  /// SQL that runs a query on the engine; to be followed by the names and types of its columns.
  public static String onEngine(String query) {
    return "SELECT * FROM kakehashi_query('kakehashi', $query$" + query + "$query$)";
  }

  /// Names and types of the query's columns.
  private static String columns(Connection connection, String query) throws SQLException {
    try (var statement = connection.prepareStatement(query)) {
      ResultSetMetaData columns = statement.getMetaData();
      List<String> all = new ArrayList<>();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        all.add("c" + i + " " + columns.getColumnTypeName(i));
      }
      return "(" + String.join(", ", all) + ")";
    }
  }
}
