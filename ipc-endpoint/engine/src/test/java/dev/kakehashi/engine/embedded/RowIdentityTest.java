package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The system column `ctid`, which names a row of a table whether or not it has a key.
@SuppressWarnings("NullAway.Init")
final class RowIdentityTest {
  /// Rows of a round; a page has room for some 2,000.
  private static final int ROWS = 600;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2);
    engine.run("CREATE TABLE t (a int, b text)");
    engine.run("INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, NULL)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private List<String> rows(String sql) {
    return engine.run(sql).rows();
  }

  private long only(String sql) {
    List<String> rows = rows(sql);
    assertEquals(1, rows.size(), () -> rows.toString());
    return Long.parseLong(rows.getFirst());
  }

  @Test
  void shouldNameEachRow() {
    assertEquals(3, new HashSet<>(rows("SELECT ctid FROM t")).size());
    long identity = only("SELECT ctid FROM t WHERE a = 2");
    assertEquals(List.of("2|NULL"), rows("SELECT * FROM t WHERE ctid = " + identity));
    assertEquals(List.of("2"), rows("SELECT x.a FROM t x WHERE " + identity + " = x.ctid"));
    assertEquals(List.of(), rows("SELECT * FROM t WHERE ctid = " + identity + " AND a = 1"));
    assertEquals(List.of(), rows("SELECT * FROM t WHERE ctid = NULL"));
    for (String none : List.of("0", "-1", "9223372036854775807", "-9223372036854775808")) {
      assertEquals(List.of(), rows("SELECT * FROM t WHERE ctid = " + none), none);
    }
    assertTrue(rows("EXPLAIN SELECT * FROM t WHERE ctid = 1").toString().contains("Identity Scan"));
  }

  @Test
  void shouldBeMeantByItsNameOnly() {
    assertEquals(2, engine.run("SELECT *, 'ctid' FROM t").columns().size() - 1);
    assertEquals(2, engine.run("SELECT t.* FROM t WHERE ctid > 0 OR true").columns().size());
    engine.run("CREATE TABLE u (a int, c int)");
    engine.run("INSERT INTO u VALUES (2, 5)");
    assertEquals(List.of("2|NULL|5"), rows("SELECT *  FROM t NATURAL JOIN u WHERE u.ctid <> 0"));
    assertEquals(
        List.of("t"),
        rows("SELECT u.ctid = (SELECT max(x.ctid) FROM u x) FROM t JOIN u USING (a)"));
    TestEngine.assertState("42702", () -> engine.run("SELECT ctid FROM t, u"));
    TestEngine.assertState("42703", () -> engine.run("SELECT 1 FROM t JOIN t s USING (ctid)"));
    TestEngine.assertState("42703", () -> engine.run("SELECT ctid FROM (SELECT a FROM t) s"));
    assertEquals(List.of("7"), rows("SELECT x FROM t s (x, y) WHERE s.ctid = 0 UNION SELECT 7"));
    TestEngine.assertState("42701", () -> engine.run("CREATE TABLE own (ctid text)"));
    assertEquals(
        List.of("1|NULL", "1|NULL", "2|t"),
        rows("SELECT t.a, u.ctid > 0 OR u.ctid < 0 FROM t LEFT JOIN u ON u.a = t.a ORDER BY 1"));
  }

  @Test
  void shouldBeNullWhereNoRowIsStored() {
    engine.run("CREATE VIEW v AS SELECT a FROM t");
    assertEquals(List.of("2|NULL"), rows("SELECT a, ctid FROM v WHERE a = 2"));
    assertEquals(
        List.of("t|NULL"),
        rows("SELECT table_name, ctid FROM kakehashi_catalog.tables WHERE table_name = 't'"));
    engine.run("CREATE VIEW identities AS SELECT ctid AS identity, a FROM t");
    assertEquals(
        List.of("1"),
        rows("SELECT count(*) FROM t JOIN identities i ON t.ctid = i.identity WHERE i.a = 2"));
  }

  @Test
  void shouldChangeTheRowThatItNames() {
    List<String> twins = rows("SELECT ctid FROM t WHERE a = 1 FOR UPDATE");
    String first = twins.get(0);
    assertEquals(1, engine.run("UPDATE t SET a = 7 WHERE ctid = " + first).count());
    assertEquals(List.of("7|" + first), rows("SELECT a, ctid FROM t WHERE a = 7"));
    assertEquals(List.of("8|x"), rows("UPDATE t SET a = 8 WHERE ctid = " + first + " RETURNING *"));
    assertEquals(
        List.of("8"), rows("DELETE FROM t WHERE ctid = " + first + " AND b = 'x' RETURNING a"));
    assertEquals(0, engine.run("UPDATE t SET a = 9 WHERE ctid = " + first).count());
    assertEquals(List.of("1|x", "2|NULL"), rows("SELECT * FROM t ORDER BY a"));
    // The oldest of equal rows stays.
    engine.run("INSERT INTO t VALUES (1, 'x'), (1, 'x')");
    assertEquals(
        2,
        engine
            .run("DELETE FROM t WHERE ctid <> (SELECT min(s.ctid) FROM t s WHERE s.a = t.a)")
            .count());
    assertEquals(
        2, engine.run("UPDATE t SET b = s.b || 'y' FROM t s WHERE s.ctid = t.ctid").count());
    assertEquals(List.of("1|xy", "2|NULL"), rows("SELECT * FROM t ORDER BY a"));
  }

  @Test
  void shouldStayWhileTheRowIsChangedInItsTransaction() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.runAs(transaction, 1, "INSERT INTO t VALUES (3, 'new')");
    String identity =
        engine.runAs(transaction, 2, "SELECT ctid FROM t WHERE a = 3").rows().getFirst();
    for (int i = 0; i < 3; i++) {
      assertEquals(
          1,
          engine
              .runAs(transaction, 3 + i, "UPDATE t SET b = b || '!' WHERE ctid = " + identity)
              .count());
    }
    engine.commit(transaction);
    assertEquals(List.of("3|new!!!"), rows("SELECT * FROM t WHERE ctid = " + identity));
  }

  @Test
  void shouldNeverNameAnotherRow() {
    Set<Long> known = new HashSet<>();
    Set<Long> places = new HashSet<>();
    int reused = 0;
    // The collector frees the slots when it comes to it.
    for (int round = 0; round < 200 && reused < ROWS; round++) {
      engine.run("DELETE FROM t");
      engine.run("INSERT INTO t SELECT g FROM generate_series(1, " + ROWS + ") g");
      for (String row : rows("SELECT ctid FROM t")) {
        long identity = Long.parseLong(row);
        assertTrue(known.add(identity), "named two rows: " + identity);
        if (!places.add(identity & 0xFFFFFFFFFFL)) {
          reused++;
        }
      }
    }
    assertTrue(reused > 0, "no slot was used again");
    String before = rows("SELECT ctid FROM t").getFirst();
    engine.run("TRUNCATE t");
    engine.run("INSERT INTO t SELECT g FROM generate_series(1, 10) g");
    assertEquals(List.of(), rows("SELECT * FROM t WHERE ctid = " + before));
  }
}
