package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// OLD and NEW of RETURNING. The expected rows are those of PostgreSQL 19.
@Timeout(120)
final class ReturningVersionsTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run(
        "create table t (k int primary key, v text, n int default 7, g int generated always as (k * 10) stored)");
    engine.run("insert into t values (1, 'one', 1), (2, 'two', 2), (3, 'three', 3)");
    engine.run("create table s (k int primary key, w text)");
    engine.run("insert into s values (1, 'uno'), (2, 'dos'), (9, 'nueve')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void assertRows(String sql, String... rows) {
    assertEquals(List.of(rows), engine.query(sql), sql);
  }

  @Test
  void shouldHaveNoOldRowOfAnInsert() {
    assertRows(
        "insert into t (k, v) values (4, 'four') returning old.k, old.v, new.k, new.v, k, new.g",
        "NULL|NULL|4|four|4|40");
    assertRows(
        "insert into t (k, v) values (5, 'five') returning *, old.v is null, new.*",
        "5|five|7|50|t|5|five|7|50");
    assertRows(
        "insert into t (k, v) values (1, 'x'), (6, 'six') on conflict do nothing returning old.k, new.k",
        "NULL|6");
  }

  @Test
  void shouldHaveTheRowInConflict() {
    assertRows(
        "insert into t (k, v) values (7, 'seven'), (1, 'x'), (8, 'eight') on conflict (k) do update"
            + " set v = t.v || excluded.v, n = 100 returning old.v, new.v, old.n, new.n, v, old.g",
        "NULL|seven|NULL|7|seven|NULL",
        "one|onex|1|100|onex|10",
        "NULL|eight|NULL|7|eight|NULL");
    assertRows(
        "insert into t (k, v) values (2, 'x'), (9, 'nine'), (3, 'y') on conflict (k) do select"
            + " returning old.v, new.v, old.k, k",
        "two|two|2|2",
        "NULL|nine|NULL|9",
        "three|three|3|3");
    assertRows(
        "insert into t (k, v) values (1, 'x'), (2, 'y') on conflict (k) do update set k = t.k + 100"
            + " where t.k = 2 returning old.k, new.k, old.g, g, (select max(w) from s where k = old.k)",
        "2|102|20|1020|dos");
  }

  @Test
  void shouldHaveBothRowsOfAnUpdate() {
    assertRows(
        "update t set n = n + 1, v = v || '!' where k in (1, 3) returning old.n, new.n, n, old.v, v",
        "1|2|2|one|one!",
        "3|4|4|three|three!");
    assertRows(
        "update t set v = w from s where s.k = t.k and t.k = 2 returning old.v, new.v, s.w, old.*, t.*",
        "two|dos|dos|2|two|2|20|2|dos|2|20");
    assertRows(
        "update t set n = (select count(*) from s) * 10 where k = 3"
            + " returning old.n, new.n, (select max(w) from s where k < old.n), (select new.n + old.n)",
        "4|30|uno|34");
    assertRows(
        "update t set n = 7 where k = 3 returning old.n + new.n as sum, coalesce(old.v, new.v), old.n is distinct from new.n",
        "37|three!|t");
    assertRows(
        "update t set n = 8 where k = 3 returning old, new, old is null",
        "(3,three!,7,30)|(3,three!,8,30)|f");
  }

  @Test
  void shouldHaveNoNewRowOfADelete() {
    assertRows(
        "delete from t where k = 3 returning old.k, new.k, k, old.v, new.v", "3|NULL|3|three|NULL");
    assertRows(
        "delete from t using s where s.k = t.k and s.k = 1 returning old.k, new.k, w, old.v",
        "1|NULL|uno|one");
    assertRows(
        "delete from t where k in (select max(k) from t) returning old.k, new.k, *",
        "2|NULL|2|two|2|20");
  }

  @Test
  void shouldHaveWhatMergeDidToARow() {
    engine.run("insert into t values (4, 'four', 4)");
    assertEquals(
        List.of(
            "DELETE|1|one|NULL|NULL|1|NULL|1|uno",
            "DELETE|4|four|NULL|NULL|4|NULL|4|NULL",
            "INSERT|NULL|NULL|9|nueve|NULL|7|9|nueve",
            "UPDATE|2|two|2|dos|2|-1|2|dos"),
        engine
            .query(
                "merge into t using s on t.k = s.k when matched and s.k = 1 then delete"
                    + " when matched then update set n = -1, v = w"
                    + " when not matched then insert (k, v) values (s.k, w)"
                    + " when not matched by source and t.k = 4 then delete"
                    + " returning merge_action(), old.k, old.v, new.k, new.v, old.n, new.n, t.k, w")
            .stream()
            .sorted()
            .toList());
  }

  @Test
  void shouldTakeOtherNames() {
    assertRows(
        "update t set n = 5 where k = 3 returning with (old as o) o.n, new.n, o.*",
        "3|5|3|three|3|30");
    assertRows(
        "update t set n = 6 where k = 3 returning with (new as nn, old as \"O\") \"O\".n, nn.n, nn.v",
        "5|6|three");
    assertRows(
        "with u as (delete from t where k = 3 returning with (old as o) o.*) select * from u",
        "3|three|6|30");
    assertRows("update t set n = 7 where k = 2 returning with (new as old) old.n, t.n", "7|7");
    assertRows(
        "insert into t (k) values (20) returning with (old as o, new as p) o.k, p.k", "NULL|20");
  }

  @Test
  void shouldGiveWayToTablesAndColumnsOfTheseNames() {
    assertRows(
        "update t set n = old.n from (select 3 as k, 50 as n) old where t.k = old.k returning old.n, new.n, t.n",
        "50|50|50");
    assertRows("update t as old set n = 0 where k = 3 returning old.n, new.n", "0|0");
    engine.run("create table c (old int, new int)");
    assertRows("insert into c values (1, 2) returning old, new, old.old, new.old", "1|2|NULL|1");
    assertRows("update c set old = 5 returning old, new, old.old, new.old", "5|2|1|5");
  }

  @Test
  void shouldRefuseWhatPostgresqlRefuses() {
    assertRefused("42P01", "update t set n = 6 returning with (new as nn) ^new.n");
    assertRefused("42P01", "update t set n = 6 where ^old.k = 3 returning n");
    assertRefused("42P01", "update t set n = ^new.n returning n");
    assertRefused("42703", "update t set n = 6 returning ^old.nothing");
    assertRefused("42712", "update t set n = 6 returning with (^new as t) n");
    assertRefused("42712", "update t set n = 6 returning with (new as nn, ^old as nn) n");
    assertRefused("42601", "update t set n = 6 returning with (old as a, ^old as b) n");
    assertRefused(
        "42712",
        "merge into t using s on t.k = s.k when matched then delete returning with (old as a, ^new as a) n");
    assertRefused("42601", "update t set n = 6 returning with (^other as a) n");
    assertRefused("42601", "update t set n = 6 returning with (old^) n");
    assertRefused("42601", "update t set n = 6 returning with (old as a^");
  }

  private void assertRefused(String state, String marked) {
    String sql = marked.replace("^", "");
    EngineException refused = assertThrows(EngineException.class, () -> engine.run(sql), sql);
    assertEquals(state, refused.code().sqlstate(), sql);
    assertEquals(marked.indexOf('^') + 1, refused.position(), sql);
  }
}
