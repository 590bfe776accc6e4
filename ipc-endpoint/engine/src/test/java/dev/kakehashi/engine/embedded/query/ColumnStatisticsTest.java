package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statistics of columns: what ANALYZE finds, and when it is done without being asked.
final class ColumnStatisticsTest {

  private static final String COLUMNS =
      "k int, few int, skewed int, nulls int, t text, n numeric, f float8, d date, ts timestamp,"
          + " b bool, c char(8), u uuid, i interval, by bytea, j jsonb";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /// One row of the table of all types.
  private static String row(int i) {
    int skewed = i % 3 == 0 ? 7 : i % 1000;
    return "(%d, %d, %d, %s, %s, %d.%02d, %d.5, date '2020-01-01' + %d, timestamp '2020-01-01' + interval '%d hours', %s, '%s', '%s', interval '%d days', %s, '{\"a\": %d}')"
        .formatted(
            i,
            i % 10,
            skewed,
            i % 4 == 0 ? "null" : String.valueOf(i % 500),
            i % 5 == 0 ? "null" : "'text " + i % 700 + "'",
            i % 300,
            i % 100,
            i % 77,
            i % 400,
            i % 2000,
            i % 3 == 0,
            "c" + i % 20,
            "%08x-0000-0000-0000-000000000000".formatted(i % 150),
            i % 31,
            i % 2 == 0 ? "'\\x%04x'".formatted(i % 333) : "null",
            i);
  }

  /// All rows are in the sample of both, so that there is nothing random.
  @Test
  void shouldFindWhatPostgresFindsInTheSameRows() throws SQLException {
    String[] names = {
      "k", "few", "skewed", "nulls", "t", "n", "f", "d", "ts", "b", "c", "u", "i", "by"
    };
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        java.sql.Statement statement = connection.createStatement()) {
      statement.execute("set timezone = 'UTC'");
      statement.execute("create table s (" + COLUMNS + ")");
      engine.run("create table s (" + COLUMNS + ")");
      for (int from = 0; from < 6000; from += 500) {
        StringBuilder insert = new StringBuilder("insert into s values ");
        for (int i = from; i < from + 500; i++) {
          insert.append(i == from ? "" : ", ").append(row(i));
        }
        statement.execute(insert.toString());
        engine.run(insert.toString());
      }
      statement.execute("analyze s");
      engine.run("analyze s");
      for (String name : names) {
        assertEquals(
            onPostgres(
                statement,
                "select round(null_frac::numeric, 4), avg_width, round(n_distinct::numeric, 4), most_common_vals,"
                    + " histogram_bounds from pg_stats where tablename = 's' and attname = '"
                    + name
                    + "'"),
            engine
                .query(
                    "select round(null_fraction::numeric, 4), average_width, round(n_distinct::numeric, 4),"
                        + " most_common_values, histogram_bounds from kakehashi_catalog.column_statistics"
                        + " where table_name = 's' and column_name = '"
                        + name
                        + "'")
                .toString()
                .replace("\"", ""),
            name);
      }
    }
  }

  private static String onPostgres(java.sql.Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      assertTrue(result.next(), "no statistics of a column");
      List<String> row = new ArrayList<>();
      for (int i = 1; i <= 5; i++) {
        String value = result.getString(i);
        row.add(value == null ? "NULL" : value.replace("\"", ""));
      }
      return List.of(String.join("|", row)).toString();
    }
  }

  @Test
  void shouldEstimateFromASampleOfManyRows() {
    int rows = 200_000;
    engine.run("create table big (id int primary key, g int, hundred int, x float8)");
    insert(0, rows);
    engine.run("analyze big");
    List<String> found =
        engine.query(
            "select column_name, n_distinct, sampled_rows, table_rows, null_fraction"
                + " from kakehashi_catalog.column_statistics where table_name = 'big' order by 1");
    assertEquals("g", found.get(0).split("\\|", -1)[0]);
    // Twenty rows of each of 10000 values, some three of them in the sample.
    double groups = Double.parseDouble(found.get(0).split("\\|", -1)[1]);
    assertTrue(groups > 8_000 && groups < 12_500, found.get(0));
    assertEquals("100", found.get(1).split("\\|", -1)[1]);
    assertEquals("-1", found.get(2).split("\\|", -1)[1], "a key");
    String[] last = found.get(3).split("\\|", -1);
    int sampled = Integer.parseInt(last[2]);
    assertTrue(sampled > 28_000 && sampled < 32_000, "rows in the sample: " + sampled);
    assertEquals("200000", last[3]);
    double nulls = Double.parseDouble(last[4]);
    assertTrue(nulls > 0.23 && nulls < 0.27, "null fraction " + nulls);
  }

  private void insert(int from, int to) {
    Statement insert = engine.prepare("insert into big values ($1, $2, $3, $4)", 23, 23, 23, 701);
    Object[][] rows = new Object[to - from][];
    for (int i = from; i < to; i++) {
      rows[i - from] = new Object[] {i, i % 10_000, i / 7 % 100, i % 4 == 0 ? null : i * 0.5};
    }
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.execute(transaction, insert, rows);
    engine.commit(transaction);
  }

  @Test
  void shouldSampleRowsOfATable() {
    engine.run("create table big (id int primary key, g int, hundred int, x float8)");
    insert(0, 20_000);
    String tenth = "from big as b tablesample bernoulli (10) repeatable (42)";
    List<String> sample = engine.query("select id, g, x " + tenth + " order by id");
    assertTrue(sample.size() > 1_600 && sample.size() < 2_400, "rows " + sample.size());
    assertEquals(sample, engine.query("select b.id, g, x " + tenth + " order by 1"));
    assertEquals(
        List.of(sample.size() + "|" + sample.size()),
        engine.query("select count(*), count(distinct id) " + tenth));
    assertEquals(
        List.of("20000|0"),
        engine.query(
            "select (select count(*) from public.big tablesample system (100)), (select count(*) from big tablesample bernoulli (0))"));
    assertTrue(
        engine.query("select id from big b tablesample system (1) where g < 5000").size() < 1000);
    for (String wrong :
        List.of(
            "select * from big tablesample bernoulli (101)",
            "select * from big tablesample nothing (10)",
            "select * from big tablesample system",
            "select * from kakehashi_catalog.tables tablesample system (1)",
            "select * from big tablesample system (1) for update")) {
      assertThrows(EngineException.class, () -> engine.run(wrong), wrong);
    }
  }

  @Test
  void shouldCollectStatisticsOfWhatHasChangedWithoutBeingAsked() {
    engine.run("create table big (id int primary key, g int, hundred int, x float8)");
    insert(0, 1000);
    awaitRows("1000");
    insert(1000, 1500);
    awaitRows("1500");
    engine.run("update big set g = 3");
    awaitValue("select n_distinct from " + OF_G, "1");
    engine.run("delete from big where id >= 600");
    awaitRows("600");
  }

  private static final String OF_G =
      "kakehashi_catalog.column_statistics where table_name = 'big' and column_name = 'g'";

  private void awaitRows(String rows) {
    awaitValue("select table_rows from " + OF_G, rows);
  }

  private void awaitValue(String sql, String expected) {
    Await.untilEquals(sql, List.of(expected), () -> engine.query(sql));
  }

  @Test
  void shouldHaveStatisticsAgainAfterARestart() {
    engine.run("create table big (id int primary key, g int, hundred int, x float8)");
    insert(0, 40);
    engine.close();
    engine = new TestEngine(directory);
    awaitRows("40");
  }

  @Test
  void shouldSayWhichTableOrColumnThereIsNot() {
    engine.run("create table big (id int primary key, g int)");
    assertEquals(
        ErrorCode.UNDEFINED_TABLE,
        assertThrows(EngineException.class, () -> engine.run("analyze nothing")).code());
    assertEquals(
        ErrorCode.UNDEFINED_COLUMN,
        assertThrows(EngineException.class, () -> engine.run("analyze big (id, nothing)")).code());
    assertEquals(
        ErrorCode.SYNTAX_ERROR,
        assertThrows(EngineException.class, () -> engine.run("analyze big id")).code());
    engine.run("analyze verbose");
    engine.run("analyze (verbose, skip_locked true) big (g), public.big;");
    assertEquals(List.of("0|0"), engine.query("select table_rows, sampled_rows from " + OF_G));
  }
}
