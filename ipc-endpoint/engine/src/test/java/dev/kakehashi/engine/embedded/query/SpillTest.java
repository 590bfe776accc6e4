package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statements give the same rows with hardly any memory as with plenty of it.
@SuppressWarnings("NullAway.Init") // set before each test
final class SpillTest {
  private static final long PLENTY = 256L << 20;
  private static final long HARDLY_ANY = 1L << 20;
  private static final int ROWS = 40_000;

  @TempDir Path home;
  private TestEngine tight;

  @BeforeEach
  void open() {
    tight = engine("tight", HARDLY_ANY, 1L << 30);
  }

  @AfterEach
  void close() {
    tight.close();
  }

  private TestEngine engine(String name, long statementBytes, long tempBytes) {
    TestEngine engine =
        new TestEngine(home.resolve(name), 2, 256L << 20, statementBytes, tempBytes);
    engine.run(
        "create table a (id int8 primary key, k int4, t text, n numeric, f float8, m numeric(10,2))");
    engine.run("create table b (id int8 primary key, k int4, t text)");
    fill(
        engine,
        "a",
        "i % 5000, case when i % 7 = 0 then null else 'text ' || (i * 37 % 1000) || repeat('x', (i % 90)::int4) end, i / 3.0, (i * 31 % 977)::float8 / 8, case when i % 13 = 0 then 'NaN' when i % 17 > 0 then i / 7.0 end");
    fill(
        engine,
        "b",
        "case when i % 11 = 0 then null else i % 9000 end, 'other ' || i || repeat('y', (i % 50)::int4)");
    return engine;
  }

  private static void fill(TestEngine engine, String table, String values) {
    engine.run(
        "insert into "
            + table
            + " with recursive s(i) as (select 1::int8 union all select i + 1 from s where i < "
            + ROWS
            + ")"
            + " select i, "
            + values
            + " from s");
  }

  private static final List<String> STATEMENTS =
      List.of(
          "select id, t, n from a order by t desc nulls last, id",
          "select id, t from a order by f, id offset 100 limit 9000",
          "select k, count(*), sum(n), min(t), max(f), avg(f) from a group by k order by k",
          "select t, count(*), sum(id) from a group by t order by t",
          "select s, count(*), sum(id) from (select id, case when id % 4 = 0 then left(t, 12) else 'w' || id % 20000 end as s from a) a group by s order by s",
          "select id, sum(m), avg(m), count(m), sum(m * 2 - id), sum(1 + m) filter (where m > 100.5) from a where m < 5000 group by id order by id",
          "select id, count(*) from a group by rollup (id, k) order by id, k, count(*)",
          "select a.id, b.id, b.t from a join b on a.k = b.k order by a.id, b.id",
          "select a.id, b.t from a left join b on a.k = b.k and b.id % 2 = 0 order by a.id, b.id",
          "select a.t, b.id from a right join b on a.k = b.k order by b.id, a.id",
          "select a.id, a.t, b.id, b.t from a full join b on a.id = b.k order by a.id, b.id",
          "select id from a where exists (select 1 from b where b.k = a.k and b.id > a.id) order by id",
          "select id, t from a where not exists (select 1 from b where b.k = a.k and b.t <> a.t) order by id",
          "select x.t, count(*) from a x join b y on x.id = y.id group by x.t order by count(*) desc, x.t",
          "select id, row_number() over (order by t, id), sum(k) over (order by id), lag(t, 3) over (order by id), first_value(t) over (order by id) from a order by id",
          "select id, rank() over (partition by k % 10 order by f), max(t) over (partition by k % 10 order by id rows between 2 preceding and 1 following) from a order by id",
          "select k, t from a intersect select k, t from a where id % 3 > 0 order by k, t",
          "select id, t from a except all select id, t from b order by id",
          "select count(distinct t || id), count(distinct k), sum(distinct n) from a",
          "select k % 3, count(distinct t || id), count(*) from a group by k % 3 order by 1",
          "select k % 2, length(string_agg(case when id % 20 = 0 then t end, ',' order by f, id)), mode() within group (order by f) from a group by k % 2 order by 1",
          "select length(string_agg(distinct case when id % 9 = 0 then t end, ',' order by case when id % 9 = 0 then t end)) , count(distinct id) from a",
          "select a.id, b.id, b.t from (select id from a where id % 10 = 9) a left join b on a.id < b.id - 39990 order by a.id, b.id",
          "select a.id, b.id, b.t from (select id from a where id % 20 = 9) a right join b on a.id > b.id + 39900 order by b.id, a.id",
          "with w as (select a.id, a.t, b.id as o from a join b on a.k = b.k) select count(*), min(x.t), max(y.t) from w x join w y on x.o = y.o where x.id < 900",
          "with recursive r(i, t) as (select id, t from a union all select i + 20000, t from r where i < 20000) select count(*), sum(i), max(t) from r",
          "with recursive r(t, f) as (select t, f from a union select t, f from r) select count(*), sum(f), max(t) from r",
          "with recursive r(n, t) as (select id, t from a where id % 20 < 2 union select (n * 7 + 3) % 64, t from r where n % 4 < 3) select count(*), sum(n), max(t), count(t) from r",
          "with recursive r(n, t) as (select 1, repeat('y', 60) union select (n * 5 + 1) % 16384, repeat('y', 60) from r) select count(*), sum(n), min(n), max(n) from r");

  @Test
  void shouldGiveTheSameRowsWithHardlyAnyMemory() throws IOException {
    try (TestEngine plenty = engine("plenty", PLENTY, 0)) {
      for (String sql : STATEMENTS) {
        long before = tight.engine.tempSpace().writtenBytes();
        List<String> expected = plenty.query(sql);
        assertEquals(expected, assertDoesNotThrow(() -> tight.query(sql), sql), sql);
        assertTrue(tight.engine.tempSpace().writtenBytes() > before, "nothing was spilled: " + sql);
        assertEquals(0, tight.engine.tempSpace().usedBytes(), sql);
      }
      assertEquals(0, plenty.engine.tempSpace().writtenBytes());
    }
    assertNoFiles();
  }

  /// Equal keys cannot be divided: the join reads them in pieces.
  @Test
  void shouldJoinManyRowsOfOneKey() {
    tight.run("create table many (id int8 primary key, k int4, t text)");
    fill(tight, "many", "7, repeat('z', 40)");
    tight.run("create table few (id int8 primary key, k int4)");
    tight.run("insert into few values (1, 7), (2, 7), (3, 8), (4, null)");
    String left = "select l.id, count(r.id), sum(r.id), max(r.t) from few l";
    long sum = (long) ROWS * (ROWS + 1) / 2;
    String found = ROWS + "|" + sum + "|" + "z".repeat(40);
    assertEquals(
        List.of("1|" + found, "2|" + found, "3|0|NULL|NULL", "4|0|NULL|NULL"),
        tight.query(
            left
                + " left join (select * from many union all select -id, 9, t from many) r on l.k = r.k group by l.id order by l.id"));
  }

  /// Twelve operators that keep rows, in one plan.
  @Test
  void shouldRunAPlanOfManyOperatorsInTheLeastMemory() throws IOException {
    StringBuilder sql = new StringBuilder("select count(*), sum(a1.id), max(b1.t) from a a1");
    for (int i = 1; i <= 4; i++) {
      sql.append(" join b b").append(i).append(" on a1.id = b").append(i).append(".id");
    }
    for (int i = 1; i <= 4; i++) {
      sql.append(
          " join (select t, id, row_number() over (order by t, id) n from a) w%1$d on w%1$d.id = a1.id"
              .formatted(i));
    }
    try (TestEngine plenty = engine("plenty", PLENTY, 0)) {
      assertEquals(plenty.query(sql.toString()), tight.query(sql.toString()));
    }
  }

  @Test
  void shouldChangeTheRowsThatASpilledJoinFinds() {
    String found = "select count(*), sum(id) from a where k in (select k from b where id % 3 = 0)";
    List<String> before = tight.query(found);
    tight.run("update a set f = -1 where k in (select k from b where id % 3 = 0)");
    assertEquals(before, tight.query("select count(*), sum(id) from a where f = -1"));
  }

  @Test
  void shouldRefuseMoreTemporaryFilesThanAllowed() throws IOException {
    try (TestEngine small = engine("small", HARDLY_ANY, 64 << 10)) {
      EngineException refused =
          assertThrows(
              EngineException.class, () -> small.query("select id, t from a order by t, id"));
      assertEquals("53400", refused.code().sqlstate());
      assertEquals(0, small.engine.tempSpace().usedBytes());
      assertEquals(List.of(String.valueOf(ROWS)), small.query("select count(*) from a"));
    }
    assertNoFiles();
  }

  /// Files that a killed process may have left, between making a file and taking its name away.
  @Test
  void shouldRemoveTemporaryFilesOfAnEarlierProcess() throws IOException {
    tight.close();
    Path temp = Files.createDirectories(home.resolve("tight").resolve("temp"));
    Files.writeString(temp.resolve("spill-1"), "rows");
    tight = new TestEngine(home.resolve("tight"), 2, 256L << 20, HARDLY_ANY, 1L << 30);
    assertNoFiles();
    assertEquals(ROWS, tight.query("select id, t from a order by t, id").size());
    assertNoFiles();
  }

  /// Pairs without a match, for hours.
  @Test
  void shouldEndAJoinThatFindsNothingWhenItsTimeIsOver() {
    EngineException ended =
        assertThrows(
            EngineException.class,
            () ->
                tight.queryWithin(
                    200_000_000L,
                    "select count(*) from a x, a y, a z where x.f < y.f - z.f - 1e9"));
    assertEquals("57014", ended.code().sqlstate());
    assertEquals(0, tight.engine.tempSpace().usedBytes());
  }

  @Test
  void shouldLeaveNothingAfterACanceledSort() {
    for (long nanos = 1_000_000L; nanos < 500_000_000L; nanos *= 3) {
      try {
        tight.queryWithin(nanos, "select a.id, a.t from a join b on a.k = b.k order by a.t, a.id");
      } catch (EngineException ended) {
        assertEquals("57014", ended.code().sqlstate());
      }
      assertEquals(0, tight.engine.tempSpace().usedBytes());
    }
  }

  @Test
  void shouldShowWhatEachOperatorHasWritten() {
    String plan =
        String.join(
            "\n",
            tight.query(
                "explain analyze select a.t, count(*) from a join b on a.id = b.id group by a.t order by a.t desc"));
    // Sort, aggregate and hash join each in their own line.
    assertEquals(
        3,
        plan.lines()
            .filter(line -> line.matches(" *Memory: \\d+kB  Disk: [1-9]\\d*kB  Files: [1-9]\\d*"))
            .count(),
        plan);
    String little =
        String.join("\n", tight.query("explain analyze select k from a where id < 5 order by k"));
    assertTrue(little.contains("Memory: ") && !little.contains("Disk: "), little);
  }

  private void assertNoFiles() throws IOException {
    for (String name : List.of("tight", "plenty", "small")) {
      Path temp = home.resolve(name).resolve("temp");
      if (Files.exists(temp)) {
        try (Stream<Path> files = Files.list(temp)) {
          assertEquals(List.of(), files.toList());
        }
      }
    }
  }
}
