package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Keys of indexes that are longer than a node of the tree. Their effect in statements is compared with PostgreSQL in long-keys.sql.
final class LongKeyTest {
  private static final String KEY = "repeat('k', 30000) || ";

  @TempDir Path directory;

  @Test
  void shouldKeepLongKeysThroughRestarts() {
    List<String> order = null;
    for (int round = 0; round < 3; round++) {
      try (TestEngine engine = new TestEngine(directory)) {
        if (round == 0) {
          engine.run("create table t (id int primary key, k text unique)");
          engine.run(
              "insert into t select g, case when g %% 3 = 0 then 'short' || g else %s g end from generate_series(1, 300) g"
                  .formatted(KEY));
        }
        assertState("23505", () -> engine.run("insert into t values (1000, " + KEY + "7)"));
        assertEquals(List.of("7"), engine.query("select id from t where k = " + KEY + "7"));
        List<String> now = engine.query("select id from t order by k desc limit 250");
        assertEquals(order == null ? now : order, now);
        order = now;
      }
      CheckReport found = new CheckReport();
      EngineCheck.run(new StoreConfig(directory, 1L << 28), found);
      assertEquals(List.of(), found.problems);
    }
  }

  @Test
  void shouldGiveMemoryOfLongKeysBack() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int primary key, k text unique)");
      String size = "select index_bytes from kakehashi_catalog.table_memory where table_name = 't'";
      List<String> empty = engine.query(size);
      for (int round = 0; round < 2; round++) {
        engine.run("insert into t select g, " + KEY + "g from generate_series(1, 100) g");
        engine.run("update t set k = k || 'x' where id > 50");
        engine.run("delete from t");
        // By the collector, which comes when it likes.
        assertTimeoutPreemptively(
            Duration.ofSeconds(60),
            () -> {
              while (!engine.query(size).equals(empty)) {
                LockSupport.parkNanos(1_000_000);
              }
            });
      }
    }
  }

  @Test
  void shouldTakeKeysForReadsOfSerializableTransactions() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int primary key, k text unique)");
      EngineTransaction transaction = engine.begin(Isolation.SERIALIZABLE);
      engine.run(transaction, "select * from t where k = " + KEY + "5");
      engine.run("insert into t values (1, " + KEY + "5)");
      assertState("40001", () -> engine.run(transaction, "insert into t values (2, " + KEY + "5)"));
      engine.rollback(transaction);
    }
  }

  @Test
  void shouldRefuseKeysBeyondTheLongestAndSayWhatHelps() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int, k text)");
      engine.run("insert into t values (1, repeat('k', 2000000))");
      assertState("54000", () -> engine.run("create index on t (k)"));
      engine.run("create unique index on t (md5(k))");
      engine.run("create unique index short on t (k) where id > 1");
      assertState("54000", () -> engine.run("insert into t values (2, repeat('m', 2000000))"));
      assertEquals(List.of("1"), engine.query("select count(*) from t"));
    }
  }
}
