package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An INSERT of many rows is one like others, though what comes after some thousands is inserted in bulk.
@SuppressWarnings("NullAway.Init") // set before each test
final class InsertManyTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2);
    engine.run("CREATE TABLE t (id int8 PRIMARY KEY, a int8, b text UNIQUE, CHECK (a >= 0))");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private List<String> rows(String sql) {
    return engine.run(sql).rows();
  }

  @Test
  void shouldFindRowsByTheirKeys() {
    engine.run(
        "INSERT INTO t SELECT g, g % 7, CASE WHEN g % 5 > 0 THEN 'b' || g END FROM generate_series(30000, 1, -1) g(g)");
    assertEquals(List.of("30000|6000"), rows("SELECT count(*), count(*) - count(b) FROM t"));
    assertEquals(List.of("17|3|b17"), rows("SELECT * FROM t WHERE id = 17"));
    assertEquals(List.of("29999|4|b29999"), rows("SELECT * FROM t WHERE b = 'b29999'"));
    engine.run("INSERT INTO t SELECT id + 100000, a FROM t");
    assertEquals(List.of("60000"), rows("SELECT count(*) FROM t"));
    assertEquals(List.of("100017|3|NULL"), rows("SELECT * FROM t WHERE id = 100017"));
  }

  @Test
  void shouldRefuseAKeyThatIsThereTwiceAndLeaveNothing() {
    engine.run("INSERT INTO t VALUES (5, 0, 'five')");
    EngineException refused =
        assertThrows(
            EngineException.class,
            () ->
                engine.run(
                    "INSERT INTO t SELECT g, 0 FROM generate_series(6, 30000) g(g) UNION ALL SELECT 29000, 1"));
    assertEquals("23505", refused.code().sqlstate());
    assertTrue(
        String.valueOf(refused.detail()).contains("Key (id)=(29000) already exists."),
        refused.detail());
    TestEngine.assertState(
        "23505",
        () ->
            engine.run(
                "INSERT INTO t SELECT g, 0, CASE g WHEN 40000 THEN 'five' END FROM generate_series(20000, 40000) g(g)"));
    TestEngine.assertState(
        "23514",
        () ->
            engine.run(
                "INSERT INTO t SELECT g, 39999 - g FROM generate_series(20000, 40000) g(g)"));
    assertEquals(List.of("5|0|five"), rows("SELECT * FROM t"));
    engine.run("INSERT INTO t SELECT g, 0 FROM generate_series(20000, 40000) g(g)");
    assertEquals(List.of("20002"), rows("SELECT count(*) FROM t"));
  }

  @Test
  void shouldReturnRowsAndSettleForeignKeys() {
    engine.run("CREATE TABLE u (id int8 REFERENCES t)");
    engine.run("INSERT INTO t SELECT g, 0 FROM generate_series(1, 20000) g(g)");
    TestEngine.assertState(
        "23503", () -> engine.run("INSERT INTO u SELECT g FROM generate_series(1, 20001) g(g)"));
    assertEquals(
        List.of("20000|200010000"),
        rows(
            "WITH i AS (INSERT INTO u SELECT g FROM generate_series(1, 20000) g(g) RETURNING id) SELECT count(*), sum(id) FROM i"));
    assertEquals(List.of("20000"), rows("SELECT count(*) FROM u"));
  }
}
