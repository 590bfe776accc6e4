package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.testing.ResultText;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Aggregates that keep their values, and recursions that know their rows, give PostgreSQL's results with the least memory that a statement
/// can have.
///
/// Skipped when PostgreSQL is not installed.
@SuppressWarnings("NullAway.Init") // set before all tests
final class SpilledAggregatesTest {
  private static final long LEAST = 1L << 20;
  private static final int ROWS = 60_000;

  private static final String TABLE =
      "create table a (id int8 primary key, g int4, k int4, t text, n numeric, f float8, d interval)";

  private static final String FILL =
      "insert into a select i, (i % 7)::int4, (i * 31 % 3000)::int4,"
          + " case when i % 11 = 0 then null else md5(i::text) || repeat('x', (i % 40)::int4) end,"
          + " i / 3.0, (i * 7919 % 10007)::float8 / 8, (i * 7919 % 5003) * interval '1 minute'"
          + " from generate_series(1::int8, "
          + ROWS
          + ") s(i)";

  /// Rows in the order of their ids, and more than one task reads none of it.
  private static final String ORDERED = " from (select * from a order by id) s ";

  private static final List<String> AGGREGATES =
      List.of(
          "select k, md5(string_agg(t, ',')), md5(array_agg(id)::text), md5(json_agg(t)::text), md5(jsonb_agg(n)::text)"
              + ORDERED
              + "group by k order by k",
          "select k, md5(json_object_agg(id, t)::text), count(*), min(t)"
              + ORDERED
              + "group by k order by k",
          "select id, array_agg(t), string_agg(t, g::text) from a group by id order by id desc limit 500",
          "select g, md5(string_agg(t, g::text || ',')), max(t)"
              + ORDERED
              + "group by g order by g",
          "select g, md5(string_agg(t, null))" + ORDERED + "group by g order by g",
          "select g, md5(array_agg(d)::text), md5(array_agg(t::bytea)::text) from (select * from a order by id limit 9000) s group by g order by g",
          "select g, length(string_agg(t, ',')), array_length(array_agg(id), 1) from a group by g order by g",
          "select k, length(string_agg(t, ',')) from a group by k order by k",
          "select g, md5(string_agg(t, ',') filter (where id % 3 = 0)), md5(array_agg(k) filter (where t is null)::text)"
              + ORDERED
              + "group by g order by g",
          "select k, g, md5(string_agg(t, ' '))"
              + ORDERED
              + "group by grouping sets ((k), (g), (g, k)) order by k, g",
          "select k, md5(string_agg(t, ',' order by f, id)), md5(array_agg(n order by t desc nulls last, id)::text) from a group by k order by k",
          "select g, md5(string_agg(t, ',' order by f desc, id)) from a group by g order by g",
          "select md5(string_agg(left(t, 3), '' order by d, id)) from a",
          "select k, md5(array_agg(distinct g)::text), md5(string_agg(distinct t, ',')), count(distinct t) from a group by k order by k",
          "select g, md5(string_agg(distinct left(t, 4), ',' order by left(t, 4) desc)), count(distinct t), sum(distinct k), md5(jsonb_agg(distinct k)::text) from a group by g order by g",
          "select percentile_cont(0.37) within group (order by f), percentile_disc(array[0, 0.1, 0.5, 0.999, 1]) within group (order by t desc),"
              + " percentile_cont(array[[0.25, null], [0.5, 0.75]]) within group (order by d), mode() within group (order by t), mode() within group (order by f desc) from a",
          "select g, percentile_disc(0.5) within group (order by t || t), percentile_cont(0.99) within group (order by n), mode() within group (order by left(t, 3)) from a group by g order by g",
          "select k, percentile_disc(0.5) within group (order by t), mode() within group (order by f), percentile_cont(0.5) within group (order by d), rank(k * 2.0) within group (order by n) from a group by k order by k",
          "select g, dense_rank('7') within group (order by t), cume_dist('8', 1) within group (order by t, k) from a group by g order by g",
          "select id % 20000, percentile_cont(0.5) within group (order by f), max(t) from a group by id % 20000 order by 1",
          "select k, count(*) from a group by k having length(string_agg(t, '')) > 1000 order by k");

  private static final List<String> RECURSIONS =
      List.of(
          // One row in each step.
          "with recursive r(n, t) as (select 1, repeat('y', 60) union select (n * 5 + 1) % 16384, repeat('y', 60) from r) select count(*), sum(n), min(n), max(n) from r",
          // Many rows in each, most of them known.
          "with recursive r(n, t) as (select id, t from a where id % 20 < 2 union select (n * 7 + 3) % 64, t from r where n % 4 < 3) select count(*), sum(n), max(t), count(t) from r",
          "with recursive r(n) as (select id from a where id < 20000 union select n + 20000 from r where n < 40000) select count(*), sum(n) from r",
          // Nothing new after the first step.
          "with recursive r(t, f) as (select t, f from a union select t, f from r) select count(*), sum(f), max(t) from r",
          "with recursive r(n, m, t) as (select 1::numeric, 1, null::text union select n / 2, (m + 1) % 3, case when m = 0 then t else coalesce(t, '') || repeat('ab', 20) end from r where length(coalesce(t, '')) < 9000) select count(*), max(length(t)) from r");

  private static PrivatePostgres postgres;
  private static Connection connection;

  @TempDir static Path directory;
  private static TestEngine engine;

  @BeforeAll
  static void start() throws SQLException {
    postgres = PrivatePostgres.start();
    connection = postgres.connect();
    engine = new TestEngine(directory, 2, 256L << 20, LEAST, 1L << 30);
    try (Statement statement = connection.createStatement()) {
      // Rows come to their groups in the order of the query below.
      statement.execute("set enable_sort = off; set work_mem = '64MB'");
      for (String sql : List.of(TABLE, FILL)) {
        statement.execute(sql);
        engine.run(sql);
      }
    }
  }

  @AfterAll
  static void stop() throws SQLException {
    if (connection != null) {
      connection.close();
      postgres.close();
    }
    if (engine != null) {
      engine.close();
    }
  }

  private static void compare(List<String> queries) throws SQLException, IOException {
    List<String> differences = new ArrayList<>();
    for (String sql : queries) {
      long before = engine.engine.tempSpace().writtenBytes();
      List<String> found = assertDoesNotThrow(() -> engine.query(sql), sql);
      assertTrue(engine.engine.tempSpace().writtenBytes() > before, "nothing was spilled: " + sql);
      List<String> expected;
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(sql)) {
        expected = ResultText.rows(result);
      }
      for (int i = 0; i < Math.max(expected.size(), found.size()); i++) {
        String one = i < expected.size() ? expected.get(i) : "no row";
        String other = i < found.size() ? found.get(i) : "no row";
        if (!one.equals(other)) {
          differences.add(sql + "\n  row " + i + " of PostgreSQL: " + one + "\n  engine: " + other);
          break;
        }
      }
      assertNothingLeft(sql);
    }
    assertEquals("", String.join("\n", differences));
  }

  private static void assertNothingLeft(String sql) throws IOException {
    assertEquals(0, engine.engine.tempSpace().usedBytes(), sql);
    assertEquals(List.of(), openFiles(), sql);
  }

  /// Temporary files that are open, which have lost their names.
  private static List<String> openFiles() throws IOException {
    List<String> open = new ArrayList<>();
    String temp = directory.toRealPath().resolve("temp").toString();
    try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
      for (Path link : links.toList()) {
        if (leadsInto(temp, link)) {
          open.add(link.toString());
        }
      }
    }
    return open;
  }

  private static boolean leadsInto(String directory, Path link) throws IOException {
    try {
      return Files.readSymbolicLink(link).toString().startsWith(directory);
    } catch (NoSuchFileException closed) {
      // Since the links were listed.
      return false;
    }
  }

  @Test
  void shouldAggregateAsPostgresDoes() throws SQLException, IOException {
    compare(AGGREGATES);
  }

  /// Each task has collected some of the rows of all groups when they are put together; how many, chance decides.
  @Test
  void shouldHaveRoomHoweverTasksShareTheRows() {
    String sql =
        "select g, length(string_agg(t, ',')), array_length(array_agg(id), 1) from a group by g order by g";
    List<String> first = engine.query(sql);
    for (int i = 0; i < 30; i++) {
      assertEquals(first, engine.query(sql));
    }
  }

  @Test
  void shouldRecurseAsPostgresDoes() throws SQLException, IOException {
    compare(RECURSIONS);
  }

  /// One value has to fit, and ends its statement only.
  @Test
  void shouldRefuseAValueThatDoesNotFit() throws IOException {
    for (String aggregate :
        List.of(
            "string_agg(t, ',')",
            "array_agg(t)",
            "string_agg(t, ',' order by t)",
            "array_agg(distinct t)")) {
      String sql = "select length(" + aggregate + "::text) from a";
      EngineException refused = assertThrows(EngineException.class, () -> engine.query(sql), sql);
      assertEquals("53200", refused.code().sqlstate(), sql);
      assertNothingLeft(sql);
    }
    assertEquals(List.of(String.valueOf(ROWS)), engine.query("select count(*) from a"));
  }

  @Test
  void shouldLeaveNothingWhenItsTimeIsOver() throws IOException {
    for (String sql : List.of(AGGREGATES.get(0), AGGREGATES.get(10), RECURSIONS.get(1))) {
      int canceled = 0;
      for (long nanos = 1_000_000L; nanos < 3_000_000_000L; nanos *= 3) {
        try {
          engine.queryWithin(nanos, sql);
        } catch (EngineException ended) {
          assertEquals("57014", ended.code().sqlstate());
          canceled++;
        }
        assertNothingLeft(sql);
      }
      assertTrue(canceled > 0, sql);
    }
  }
}
