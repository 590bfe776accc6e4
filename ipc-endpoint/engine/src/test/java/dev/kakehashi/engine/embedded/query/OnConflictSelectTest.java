package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.TypeOid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// INSERT ... ON CONFLICT DO SELECT, as PostgreSQL 19 has it.
@Timeout(120)
final class OnConflictSelectTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run(
        "create table t (k int primary key, v text, n int default 7, g int generated always as (k * 10) stored)");
    engine.run("insert into t values (1, 'one'), (2, 'two')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldReturnTheRowThatIsThereOrTheNewOne() {
    TestEngine.Result result =
        engine.run(
            "insert into t (k, v) values (1, 'x'), (3, 'three') on conflict (k) do select returning *");
    assertEquals(List.of("1|one|7|10", "3|three|7|30"), result.rows());
    assertEquals(2, result.count());
    assertEquals(
        List.of("1|one", "2|two", "3|three"), engine.query("select k, v from t order by k"));
  }

  @Test
  void shouldSelectByWhatIsThereAndByWhatWasProposed() {
    String insert =
        "insert into t as r (k, v, n) values (1, 'x', 5), (2, 'two', 7), (4, 'four', 1) on conflict (k) do select where ";
    assertEquals(
        List.of("2", "4"), engine.query(insert + "r.v = excluded.v returning k").stream().toList());
    TestEngine.Result result = engine.run(insert + "excluded.n < r.n returning k, v");
    assertEquals(List.of("1|one"), result.rows());
    assertEquals(1, result.count());
    assertEquals(List.of(), engine.query(insert + "null returning k"));
    assertEquals(
        List.of("1|2"),
        engine.query(
            "insert into t values (1) on conflict (k) do select"
                + " where (select count(*) from t z where z.k <> excluded.k) > 1 returning k, (select max(k) from t where k < 3)"));
  }

  @Test
  void shouldFindTheRowByAnyIndexThatIsMeant() {
    engine.run("create unique index on t (lower(v))");
    engine.run("create unique index on t (n) where k > 100");
    engine.run("insert into t values (101, 'hundred', 3)");
    assertEquals(
        List.of("2"),
        engine.query(
            "insert into t values (9, 'TWO') on conflict (lower(v)) do select returning k"));
    assertEquals(
        List.of("101"),
        engine.query(
            "insert into t values (102, 'x', 3) on conflict (n) where k > 100 do select returning k"));
    assertEquals(
        List.of("1"),
        engine.query(
            "insert into t values (1) on conflict on constraint t_pkey do select returning k"));
    TestEngine.assertState(
        "23505",
        () -> engine.run("insert into t values (9, 'two') on conflict (k) do select returning k"));
  }

  @Test
  void shouldTakeProposedRowsTwiceUnlessTheyAreLocked() {
    String twice =
        "insert into t values (5, 'a'), (5, 'b'), (1, 'c'), (1, 'd') on conflict (k) do select";
    TestEngine.assertState("21000", () -> engine.run(twice + " for share returning v"));
    assertEquals(List.of("a", "a", "one", "one"), engine.query(twice + " returning v"));
    assertEquals(List.of("a", "a", "one", "one"), engine.query(twice + " for update returning v"));
  }

  @Test
  void shouldRefuseWhatPostgresqlRefuses() {
    for (String end :
        List.of(
            "(k) do select",
            "do select returning k",
            "(k) do select for update nowait returning k",
            "(k) do select for nothing returning k",
            "(k) do select set v = 1 returning k")) {
      TestEngine.assertState(
          "42601", () -> engine.run("insert into t values (1) on conflict " + end));
    }
    TestEngine.assertState(
        "42P10",
        () -> engine.run("insert into t values (1) on conflict (v) do select returning k"));
    TestEngine.assertState(
        "42P01",
        () ->
            engine.run("insert into t values (1) on conflict (k) do select returning excluded.k"));
    TestEngine.assertState(
        "42803",
        () ->
            engine.run(
                "insert into t values (1) on conflict (k) do select where count(*) > 1 returning k"));
  }

  @Test
  void shouldPointAtTheClauseOrAtItsTarget() {
    for (String marked :
        List.of(
            "insert into t values (1) ^on conflict do select returning k",
            "insert into t values (1) ^on conflict (k) do select",
            "insert into t values (1) ^on conflict do update set v = 'x'",
            "insert into t values (1) on conflict ^(v) do select returning k",
            "insert into t values (1) on conflict ^(v) do update set v = 'x'",
            "insert into t values (1) on conflict ^(v) do nothing")) {
      String sql = marked.replace("^", "");
      EngineException refused = assertThrows(EngineException.class, () -> engine.run(sql));
      assertEquals(marked.indexOf('^') + 1, refused.position(), sql);
    }
  }

  @Test
  void shouldBePartOfWith() {
    assertEquals(
        List.of("1|one", "6|six"),
        engine.query(
            "with w as (insert into t values (1, 'x'), (6, 'six') on conflict (k) do select returning k, v)"
                + " select * from w order by k"));
    // Its query sees what was there before; the row is what the statement has made of it.
    assertEquals(
        List.of("2|new"),
        engine.query(
            "with u as (update t set v = 'new' where k = 2 returning k)"
                + " insert into t select 2, 'x' from u on conflict (k) do select returning k, v"));
  }

  @Test
  void shouldSeeWhatRowsOfParametersBeforeHaveMade() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    for (String lock : List.of("", " for update")) {
      TestEngine.Result result =
          engine
              .start(
                  transaction,
                  engine.prepare(
                      "insert into t (k, v) values ($1, $2) on conflict (k) do select"
                          + lock
                          + " returning v",
                      TypeOid.INT4,
                      TypeOid.TEXT),
                  new Object[][] {{8, "a"}, {8, "b"}, {1, "c"}},
                  Integer.MAX_VALUE,
                  0)
              .await();
      assertEquals(List.of("a", "a", "one"), result.rows());
      assertEquals(3, result.count());
    }
    engine.commit(transaction);
  }

  @Test
  void shouldWaitForTheTransactionThatHasTheKey() {
    for (boolean commits : List.of(true, false)) {
      engine.run("delete from t where k = 50");
      EngineTransaction other = engine.begin(Isolation.READ_COMMITTED);
      engine.run(other, "insert into t values (50, 'other')");
      EngineTransaction mine = engine.begin(Isolation.READ_COMMITTED);
      TestEngine.Running running =
          engine.start(
              mine,
              engine.prepare(
                  "insert into t values (50, 'mine') on conflict (k) do select returning v"),
              new Object[][] {{}},
              Integer.MAX_VALUE,
              0);
      if (commits) {
        engine.commit(other);
      } else {
        engine.rollback(other);
      }
      assertEquals(List.of(commits ? "other" : "mine"), running.await().rows());
      engine.commit(mine);
    }
  }

  @Test
  void shouldRefuseRowsThatTheSnapshotDoesNotShow() {
    EngineTransaction mine = engine.begin(Isolation.REPEATABLE_READ);
    assertEquals(List.of("2"), engine.run(mine, "select count(*) from t").rows());
    engine.run("insert into t values (60, 'later')");
    TestEngine.assertState(
        "40001",
        () -> engine.run(mine, "insert into t values (60) on conflict (k) do select returning v"));
    engine.rollback(mine);
  }

  @Test
  void shouldNeedTheRightsToSelectAndToLock() {
    engine.run("create role r login");
    engine.run("grant insert (k), select (k) on t to r");
    TestEngine.Other r = engine.other("r");
    String insert = "insert into t (k) values (1) on conflict (k) do select";
    assertEquals(List.of("1"), r.query(insert + " returning k"));
    TestEngine.assertState("42501", () -> r.query(insert + " returning v"));
    TestEngine.assertState("42501", () -> r.query(insert + " where t.v > '' returning k"));
    TestEngine.assertState("42501", () -> r.query(insert + " for share returning k"));
    engine.run("grant update (n) on t to r");
    assertEquals(List.of("1"), r.query(insert + " for share returning k"));
    engine.run("revoke select (k) on t from r");
    TestEngine.assertState("42501", () -> r.query(insert + " returning 1"));
  }

  /// A model of the table: `-Dkakehashi.seed=` repeats a run.
  @Test
  void shouldBeInsertOrElseSelect() {
    long seed = Long.getLong("kakehashi.seed", 20261129L);
    System.out.println("OnConflictSelectTest: -Dkakehashi.seed=" + seed);
    Random random = new Random(seed);
    engine.run("create table m (a int, b text, v int, unique (b, a))");
    Map<String, Integer> model = new TreeMap<>();
    for (int i = 0; i < 200; i++) {
      List<String> values = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      List<String> keys = new ArrayList<>();
      int least = random.nextInt(8);
      boolean locks = random.nextInt(3) == 0;
      for (int row = random.nextInt(6); row >= 0; row--) {
        String key = random.nextInt(6) + "|" + (char) ('a' + random.nextInt(4));
        if (locks && keys.contains(key) && !model.containsKey(key)) {
          continue;
        }
        keys.add(key);
        int proposed = random.nextInt(10);
        values.add("(%s, '%s', %d)".formatted(key.charAt(0), key.substring(2), proposed));
      }
      Map<String, Integer> next = new TreeMap<>(model);
      for (int row = 0; row < keys.size(); row++) {
        String key = keys.get(row);
        String text = values.get(row);
        int proposed =
            Integer.parseInt(text.substring(text.lastIndexOf(' ') + 1, text.length() - 1));
        Integer there = next.putIfAbsent(key, proposed);
        if (there == null || there + proposed >= least) {
          expected.add(key + "|" + (there == null ? proposed : there));
        }
      }
      String sql =
          "insert into m values "
              + String.join(", ", values)
              + " on conflict (a, b) do select"
              + (locks ? " for no key update" : "")
              + " where m.v + excluded.v >= "
              + least
              + " returning *";
      try {
        assertEquals(expected, engine.query(sql), sql);
      } catch (EngineException refused) {
        throw new AssertionError(sql, refused);
      }
      model.clear();
      model.putAll(next);
      if (random.nextInt(5) == 0) {
        engine.run("delete from m where a = " + random.nextInt(6));
        model.clear();
        engine
            .query("select a, b, v from m")
            .forEach(row -> model.put(row.substring(0, 3), Integer.parseInt(row.substring(4))));
      }
    }
  }
}
