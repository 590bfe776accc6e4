package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.testing.Differences;
import dev.kakehashi.engine.testing.ResultText;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Random window functions, grouping sets and ordered aggregates give PostgreSQL's rows: with memory for all rows, where several tasks
/// share partitions, and with the least memory, where rows lie in files.
///
/// Skipped when PostgreSQL is not installed. The seed is printed with the differences.
final class WindowDifferenceTest {
  private static final long LEAST = 1L << 20;
  private static final int ROWS = Integer.getInteger("kakehashi.window.rows", 6_000);
  private static final int QUERIES = Integer.getInteger("kakehashi.window.queries", 50);

  private static final String TABLE =
      "create table w (id int4 primary key, g int4, k int4, s int2, b int8, n numeric, f float8, t text, d date, ts timestamp, c time, v interval, o bool)";

  /// Some values of each column are null, and keys have equal values.
  private static final String FILL =
      "insert into w select i, (i * 7919 % 23)::int4, case when i % 13 = 0 then null else (i * 31 % 601)::int4 end,"
          + " (i % 401 - 200)::int2, case when i % 17 = 0 then null else i * 1000003::int8 % 100019 end,"
          + " case when i % 19 = 0 then null when i % 2 = 0 then (i % 997) / 4.0 else (i % 991)::numeric end,"
          + " (i * 7919 % 4001)::float8 / 8, case when i % 11 = 0 then null else md5((i % 700)::text) || repeat('x', (i % 60)::int4) end,"
          + " date '2020-01-01' + (i % 367)::int4, timestamp '2020-01-01' + (i * 7919 % 5003) * interval '37 minutes',"
          + " time '00:00' + (i * 104729 % 86399) * interval '1 second',"
          + " (i % 503) * interval '5 hours', case when i % 7 = 0 then null else i % 5 < 4 end"
          + " from generate_series(1, "
          + ROWS
          + ") s(i)";

  @TempDir Path directory;

  @Test
  void shouldGiveTheRowsOfPostgres() throws SQLException {
    compare(directory, 256L << 20, Long.getLong("kakehashi.seed", 20261126L), false);
  }

  @Test
  void shouldGiveTheRowsOfPostgresWithLittleMemory() throws SQLException {
    compare(directory, LEAST, Long.getLong("kakehashi.seed", 20261126L) + 1, true);
  }

  private static void compare(Path directory, long bytes, long seed, boolean spills)
      throws SQLException {
    List<String> differences = new ArrayList<>();
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory, 2, 256L << 20, bytes, 1L << 30)) {
      for (String sql : List.of(TABLE, FILL, "analyze w")) {
        statement.execute(sql);
        engine.run(sql);
      }
      RandomWindows queries = new RandomWindows(seed);
      for (int i = 0; i < QUERIES; i++) {
        String sql = queries.next();
        List<String> expected = onPostgres(statement, sql);
        List<String> found = onEngine(engine, sql);
        if (!expected.equals(found)) {
          differences.add(sql + firstDifference(expected, found));
        }
      }
      assertEquals(
          spills, engine.engine.tempSpace().writtenBytes() > 0, "whether anything was spilled");
    }
    Differences.assertNone(differences, seed);
  }

  private static String firstDifference(List<String> expected, List<String> found) {
    int row = 0;
    while (row < Math.min(expected.size(), found.size())
        && expected.get(row).equals(found.get(row))) {
      row++;
    }
    return "\n  PostgreSQL: " + at(expected, row) + "\n  engine:     " + at(found, row);
  }

  private static String at(List<String> rows, int row) {
    return row < rows.size() ? rows.get(row) : "no row " + row;
  }

  private static List<String> onPostgres(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      return ResultText.rows(result);
    }
  }

  private static List<String> onEngine(TestEngine engine, String sql) {
    try {
      return engine.query(sql);
    } catch (EngineException refused) {
      return List.of("error " + refused.code().sqlstate());
    }
  }

  /// A frame of many rows that moves with the current one is not aggregated anew for each row: that would take a thousand times as long.
  @Test
  void shouldMoveLongFrames() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table long_frames (id int4 primary key, n numeric)");
      engine.run(
          "insert into long_frames select i, (i % 100) / 4.0 from generate_series(1, 200000) s(i)");
      List<String> found =
          engine.query(
              "select count(*), sum(s), max(m), min(c) from (select sum(id::int8) over w as s, max(n) over w as m, count(*) over w as c"
                  + " from long_frames window w as (order by id rows between 100000 preceding and 50000 following)) q");
      // Each row is in the frames of the 50,000 rows before it, and of the 100,000 behind it.
      long sum = 0;
      for (long id = 1; id <= 200_000; id++) {
        sum += id * (Math.min(id - 1, 50_000) + 1 + Math.min(200_000 - id, 100_000));
      }
      assertEquals(List.of("200000|" + sum + "|24.7500000000000000|50001"), found);
      assertTrue(engine.engine.tempSpace().usedBytes() == 0, "temporary files are left");
    }
  }
}
