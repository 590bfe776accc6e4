package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.pgwire.catalog.ShardStatistics;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.tck.drive.DrivenEngine;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Statistics of shards against those of a table that has all of their rows. Tables of one server stand for the shards.
class ShardStatisticsTest {
  private static final int SHARDS = 8;

  private static PgWireServer server;
  private static PgWireEngine engine;
  private static DrivenEngine client;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server = PgWireServer.start();
    engine =
        PgWireEngine.open(
            PgWireUnderTest.config(
                List.of(new ServerAddress("127.0.0.1", server.port())), server.passwordFile()));
    client = new DrivenEngine(engine, "test", "");
    client.run(ShardStatistics.COMBINATION);
    client.run(
        "create table whole as select i as k, i % 10 as few, (i * 7919::int8) % 5000 as some, -i as single,"
            + " case when i % 4 = 0 then i % 3 end as nulls, repeat('x', i % 20) as name from generate_series(1, 40000) i");
    client.run("analyze whole");
    for (int shard = 0; shard < SHARDS; shard++) {
      client.run(
          "create table shard_%d as select * from whole where abs(hashint4(k)) %% %d = %d"
              .formatted(shard, SHARDS, shard));
      client.run("analyze shard_" + shard);
    }
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      client.close();
      engine.close();
      server.close();
    }
  }

  /// Columns of a row, of the table and of the shards together.
  private static String[] row(String columns, String attribute, boolean whole) {
    List<String> rows =
        client.query(
            whole
                ? "select "
                    + columns
                    + " from pg_stats s where tablename = 'whole' and attname = '"
                    + attribute
                    + "'"
                : """
                select %s from kakehashi_catalog.shards_combined((
                  select jsonb_agg(jsonb_build_object('shard', c.oid::int8, 'attname', t.attname, 'tuples', c.reltuples, 'null_frac', t.null_frac,
                    'avg_width', t.avg_width, 'n_distinct', t.n_distinct, 'common_vals', t.most_common_vals::text, 'common_freqs', t.most_common_freqs,
                    'histogram', t.histogram_bounds::text))
                  from pg_class c join pg_stats t on t.tablename = c.relname where c.relname like 'shard\\_%%'), 'k') where attname = '%s'
                """
                    .formatted(columns, attribute));
    assertEquals(1, rows.size(), attribute);
    return rows.getFirst().split("\\|", -1);
  }

  private static void assertNear(double wanted, double found, double factor, String what) {
    assertTrue(
        found == wanted || (found / wanted <= factor && wanted / found <= factor),
        what + ": " + found + " instead of " + wanted);
  }

  @Test
  void shouldCountValuesNullsAndWidths() {
    for (String column : List.of("k", "few", "some", "single", "nulls", "name")) {
      String[] whole = row("n_distinct::float8, null_frac::float8, avg_width", column, true);
      String[] shards = row("n_distinct, null_frac, avg_width", column, false);
      double[] distinct = {Double.parseDouble(whole[0]), Double.parseDouble(shards[0])};
      for (int i = 0; i < 2; i++) {
        distinct[i] = distinct[i] < 0 ? -distinct[i] * 40_000 : distinct[i];
      }
      assertNear(distinct[0], distinct[1], 1.2, "values of " + column);
      assertEquals(
          Double.parseDouble(whole[1]), Double.parseDouble(shards[1]), 0.02, "nulls of " + column);
      assertEquals(
          Double.parseDouble(whole[2]), Double.parseDouble(shards[2]), 1, "width of " + column);
    }
  }

  @Test
  void shouldKnowCommonValues() {
    String[] shards = row("common_vals, common_freqs", "few", false);
    List<String> values =
        Arrays.asList(shards[0].substring(1, shards[0].length() - 1).split(",", -1));
    assertEquals(
        List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
        values.stream().sorted().toList());
    for (String frequency : shards[1].substring(1, shards[1].length() - 1).split(",", -1)) {
      assertEquals(0.1, Double.parseDouble(frequency), 0.01);
    }
  }

  @Test
  void shouldKnowAHistogram() {
    assertTrue(row("histogram", "single", false)[0].split(",", -1).length > 50);
  }
}
