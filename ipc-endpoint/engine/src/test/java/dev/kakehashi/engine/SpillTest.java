package dev.kakehashi.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
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
  private static final int ROWS = 12_000;

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
    engine.run("create table a (id int8 primary key, k int4, t text, n numeric, f float8)");
    engine.run("create table b (id int8 primary key, k int4, t text)");
    fill(
        engine,
        "a",
        "i % 5000, case when i % 7 = 0 then null else 'text ' || (i * 37 % 1000) || repeat('x', (i % 90)::int4) end, i / 3.0, (i * 31 % 977)::float8 / 8");
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
          "select id, count(*) from a group by rollup (id, k) order by id, k, count(*)",
          "select a.id, b.id, b.t from a join b on a.k = b.k order by a.id, b.id",
          "select a.id, b.t from a left join b on a.k = b.k and b.id % 2 = 0 order by a.id, b.id",
          "select a.t, b.id from a right join b on a.k = b.k order by b.id, a.id",
          "select a.id, b.id from a full join b on a.id = b.k order by a.id, b.id",
          "select id from a where exists (select 1 from b where b.k = a.k and b.id > a.id) order by id",
          "select id, t from a where not exists (select 1 from b where b.k = a.k and b.t <> a.t) order by id",
          "select x.t, count(*) from a x join b y on x.id = y.id group by x.t order by count(*) desc, x.t");

  @Test
  void shouldGiveTheSameRowsWithHardlyAnyMemory() throws IOException {
    try (TestEngine plenty = engine("plenty", PLENTY, 0)) {
      for (String sql : STATEMENTS) {
        long before = tight.engine.tempSpace().writtenBytes();
        List<String> expected = plenty.query(sql);
        assertEquals(expected, tight.query(sql), sql);
        assertTrue(tight.engine.tempSpace().writtenBytes() > before, "nothing was spilled: " + sql);
        assertEquals(0, tight.engine.tempSpace().usedBytes(), sql);
      }
      assertEquals(0, plenty.engine.tempSpace().writtenBytes());
    }
    assertNoFiles();
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
  void shouldLeaveNothingAfterACancelledSort() {
    for (long nanos = 1_000_000L; nanos < 500_000_000L; nanos *= 3) {
      try {
        tight.queryWithin(nanos, "select a.id, a.t from a join b on a.k = b.k order by a.t, a.id");
      } catch (EngineException ended) {
        assertEquals("57014", ended.code().sqlstate());
      }
      assertEquals(0, tight.engine.tempSpace().usedBytes());
    }
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
