package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// min and max of a column that an index begins with are read from the end of the index.
final class IndexExtremeTest {
  @TempDir Path directory;

  private TestEngine engine;

  @BeforeEach
  void fill() {
    engine = new TestEngine(directory);
    engine.run(
        "create table t (id int primary key, g int not null, n int not null, z int, t text not null, free int)");
    engine.run("create index on t (g, n desc)");
    engine.run("create index on t (t)");
    engine.run("create index on t (free)");
    // z is 0 for the row in the middle, and for no other.
    engine.run(
        "insert into t select i, i % 10, i * 3, i - 1500, 'v' || i, nullif(i, 3000) from generate_series(1, 3000) i");
    engine.run("analyze");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private boolean usesIndexOrder(String query) {
    String plan = String.join("\n", engine.query("explain " + query));
    return plan.contains("Limit") && plan.contains("Index Scan");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "select min(id) from t | 1",
        "select max(id) from t | 3000",
        "select max(id) + 1 from t | 3001",
        "select max(t) from t | v999",
        "select min(n) from t where g = 3 | 9",
        "select max(n) from t where g = 3 | 8979",
        "select max(n) from t where g = 30 | NULL",
        "select min(g) from t where g > 4 | 5",
        "select max(id) from t where id < 0 | NULL",
        "select max(id) from t where id < 1500 and 100 / z < 3 | 1499",
        "select coalesce(max(id), 0) from t where id > 290 and free is not null | 2999"
      })
  void shouldTakeTheFirstEntry(String query, String expected) {
    assertEquals(List.of(expected), engine.query(query));
    assertTrue(usesIndexOrder(query), query);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Entries may be null, the index has another order, or few rows fulfil the condition.
        "select max(free) from t | 2999",
        "select max(n) from t | 9000",
        "select max(id) from t where n = 30 | 10",
        "select max(id) filter (where g = 1) from t | 2991",
        "select max(g) from t group by n having n = 30 | 0"
      })
  void shouldLookAtAllRowsOtherwise(String query, String expected) {
    assertEquals(List.of(expected), engine.query(query));
    assertFalse(usesIndexOrder(query), query);
  }

  @ParameterizedTest
  @ValueSource(strings = {"select min(id), max(id) from t", "select min(id), count(*) from t"})
  void shouldAggregateSeveralTogether(String query) {
    assertEquals("1,3000", engine.query(query).getFirst().replaceAll("[^0-9]+", ","));
  }

  @Test
  void shouldNotMeetWhatFailsBehind() {
    assertEquals(List.of("1"), engine.query("select min(id) from t where 100 / z < 3"));
    EngineException thrown =
        assertThrows(
            EngineException.class,
            () -> engine.query("select min(id) from t where id >= 1500 and 100 / z < 3"));
    assertEquals(ErrorCode.DIVISION_BY_ZERO, thrown.code());
  }

  @Test
  void shouldSeeItsOwnChanges() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "delete from t where id in (1, 2)");
    engine.run(transaction, "update t set id = -7 where id = 4");
    assertEquals(List.of("-7"), engine.run(transaction, "select min(id) from t").rows());
    engine.run(transaction, "delete from t where id < 10");
    assertEquals(List.of("10"), engine.run(transaction, "select min(id) from t").rows());
    engine.rollback(transaction);
    assertEquals(List.of("1"), engine.query("select min(id) from t"));
  }

  /// The range between the end of the index and the row that was taken has been read.
  @Test
  void shouldNotCommitAfterAnotherRowCameBefore() {
    EngineTransaction reader = engine.begin(Isolation.SERIALIZABLE);
    assertEquals(List.of("3000"), engine.run(reader, "select max(id) from t").rows());
    EngineTransaction writer = engine.begin(Isolation.SERIALIZABLE);
    assertEquals(List.of("1"), engine.run(writer, "select min(id) from t").rows());
    engine.run(writer, "insert into t values (3001, 0, 0, 1, '', 1)");
    engine.commit(writer);
    engine.run(reader, "insert into t values (0, 0, 0, 1, '', 1)");
    EngineException thrown = assertThrows(EngineException.class, () -> engine.commit(reader));
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, thrown.code());
  }
}
