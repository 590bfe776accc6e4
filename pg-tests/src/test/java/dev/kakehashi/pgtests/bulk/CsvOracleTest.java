package dev.kakehashi.pgtests.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/// Generated files of CSV and text are for a load what they are for PostgreSQL's COPY: the same rows, or the same SQLSTATE.
/// `-Dkakehashi.csvFiles=10000` for more of them.
///
/// Without `\.`: where it ends a file, or is an error, depends on PostgreSQL's version.
@SuppressWarnings("NullAway.Init") // set by the test
class CsvOracleTest {
  private static final int FILES = Integer.getInteger("kakehashi.csvFiles", 30);
  private final Workspace workspace = Workspace.create("oracle");
  private final Path files = workspace.newDiskDirectory("files");
  private Connection connection;
  private CopyManager copy;
  private int loaded;

  @Test
  void shouldReadWhatPostgresqlReads() throws SQLException, IOException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed + ", csvFiles " + FILES);
    Random random = new Random(seed);
    try (Cluster cluster =
            Cluster.start(workspace, "bulk_locations=files:" + files + ":readwrite");
        Connection first = cluster.connect()) {
      connection = first;
      copy = first.unwrap(PGConnection.class).getCopyAPI();
      for (int columns = 1; columns <= 3; columns++) {
        String names =
            List.of("a text", "b text", "c text").subList(0, columns).stream()
                .collect(Collectors.joining(", "));
        cluster.onEngine("CREATE TABLE soup" + columns + " (" + names + ")");
        Sql.execute(
            connection,
            "IMPORT FOREIGN SCHEMA public LIMIT TO (soup"
                + columns
                + ") FROM SERVER kakehashi INTO public",
            "CREATE TABLE plain" + columns + " (" + names + ")");
      }
      for (int i = 0; i < FILES; i++) {
        compare(random, seed);
      }
    }
    assertTrue(loaded >= FILES / 5, loaded + " files had no error, seed " + seed);
  }

  private void compare(Random random, long seed) throws SQLException, IOException {
    Map<String, String> options = options(random);
    int columns = 1 + random.nextInt(3);
    String content = content(random, options, columns);
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    Files.write(files.resolve("soup"), bytes);
    Sql.execute(connection, "TRUNCATE plain" + columns, "TRUNCATE soup" + columns);
    String expected = plain(columns, options, bytes);
    assertEquals(
        expected,
        engine(columns, options),
        () -> "seed " + seed + ", " + columns + " columns, " + options + ", " + shown(content));
    loaded += expected.startsWith("rows") ? 1 : 0;
  }

  private static String shown(String content) {
    return content.replace("\r", "<CR>").replace("\n", "<LF>");
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  private String plain(int columns, Map<String, String> options, byte[] bytes)
      throws SQLException, IOException {
    String with =
        options.entrySet().stream()
            .map(option -> option.getKey() + " " + quoted(option.getValue()))
            .collect(Collectors.joining(", "));
    try {
      long ignored =
          copy.copyIn(
              "COPY plain" + columns + " FROM STDIN WITH (" + with + ")",
              new ByteArrayInputStream(bytes));
    } catch (SQLException refused) {
      return "error " + refused.getSQLState();
    }
    return rows("plain" + columns);
  }

  private String engine(int columns, Map<String, String> options) throws SQLException {
    String with =
        options.entrySet().stream()
            .map(option -> "'" + option.getKey() + "', " + quoted(option.getValue()))
            .collect(Collectors.joining(", "));
    String load =
        "SELECT * FROM kakehashi_load('kakehashi', 'soup%d', 'files:soup', jsonb_build_object(%s))"
            .formatted(columns, with);
    try {
      Sql.execute(connection, load);
    } catch (SQLException refused) {
      return "error " + refused.getSQLState();
    }
    return rows("soup" + columns);
  }

  private String rows(String table) throws SQLException {
    return "rows "
        + Sql.rows(connection, "SELECT * FROM " + table).stream()
            .sorted()
            .map(CsvOracleTest::shown)
            .toList();
  }

  private static Map<String, String> options(Random random) {
    Map<String, String> options = new TreeMap<>();
    boolean isCsv = random.nextInt(4) > 0;
    options.put("format", isCsv ? "csv" : "text");
    if (random.nextInt(3) == 0) {
      options.put("delimiter", random.nextBoolean() ? ";" : "|");
    }
    if (isCsv && random.nextInt(3) == 0) {
      options.put("escape", "\\");
    }
    if (isCsv && random.nextInt(4) == 0) {
      options.put("quote", "'");
    }
    if (random.nextInt(4) == 0) {
      options.put("null", "a");
    }
    return options;
  }

  /// Bytes that mean something, in any order within rows that mostly have the right number of fields.
  private static String content(Random random, Map<String, String> options, int columns) {
    boolean isCsv = "csv".equals(options.get("format"));
    String delimiter = options.getOrDefault("delimiter", isCsv ? "," : "\t");
    String quote = options.getOrDefault("quote", "\"");
    String end = List.of("\n", "\r\n", "\r").get(random.nextInt(3));
    String[] pieces = {"a", "b", " ", "é", "\\N", "\\", "\\t", "\\x41", ",", quote + quote};
    StringBuilder out = new StringBuilder();
    for (int row = random.nextInt(6); row > 0; row--) {
      int fields = random.nextInt(20) == 0 ? 1 + random.nextInt(4) : columns;
      for (int field = 0; field < fields; field++) {
        out.append(field > 0 ? delimiter : "");
        boolean quotes = isCsv && random.nextInt(3) == 0;
        out.append(quotes ? quote : "");
        for (int n = random.nextInt(4); n > 0; n--) {
          int piece = random.nextInt(pieces.length + 3);
          out.append(
              piece < pieces.length
                  ? pieces[piece]
                  : quotes && piece == pieces.length ? end : random.nextInt(8) == 0 ? quote : "c");
        }
        out.append(quotes && random.nextInt(30) > 0 ? quote : "");
      }
      out.append(random.nextInt(40) == 0 ? "\n" : row > 1 || random.nextBoolean() ? end : "");
    }
    return out.toString();
  }
}
