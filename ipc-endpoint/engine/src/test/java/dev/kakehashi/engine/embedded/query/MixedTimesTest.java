package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Comparisons of dates, timestamps and timestamps with time zone with each other use indexes and hash joins.
final class MixedTimesTest {
  @TempDir Path directory;

  @Test
  void shouldTakeTheOtherTypeAsABoundOfAnIndex() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int primary key, l timestamp, z timestamptz, d date)");
      engine.run("create index t_l on t (l)");
      engine.run("create index t_z on t (z)");
      engine.run(
          "insert into t select n, timestamp '2020-01-01' + n * interval '1 hour',"
              + " timestamptz '2020-01-01 00:00+00' + n * interval '1 hour', date '2020-01-01' + n"
              + " from generate_series(1, 2000) n");
      engine.run("analyze");
      String ofDate = "select id from t where l >= date '2020-01-02' and l < date '2020-01-03'";
      assertPlan(engine, ofDate, "Index Scan using t_l");
      assertEquals(24, engine.query(ofDate).size());
      String zoned =
          "select id from t where z < timestamp '2020-01-01 05:00' and z > date '2019-12-31'";
      assertPlan(engine, zoned, "Index Scan using t_z");
      assertEquals(List.of("1", "2", "3", "4"), engine.query(zoned + " order by id"));
      String stable = "select id from t where z > current_date and z < current_date + 1";
      assertPlan(engine, stable, "Index Scan using t_z");
      String join = "select count(*) from t a join t b on a.l = b.d";
      assertPlan(engine, join, "Hash");
      assertEquals(List.of("83"), engine.query(join));
    }
  }

  private static void assertPlan(TestEngine engine, String sql, String part) {
    String plan = String.join("\n", engine.query("explain " + sql));
    assertTrue(plan.contains(part), plan);
  }
}
