package dev.kakehashi.engine.embedded.query;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A serializable transaction that has looked for a key, found none and inserts it is told to try again when another one was quicker: a
/// duplicate key would contradict what it has seen.
final class LookedForKeyTest {
  private static final String LOOK = "select * from t where id = 5";
  private static final String INSERT = "insert into t values (5, 500, 'second')";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, code int unique, note text)");
    engine.run("create table d (id int, code int unique deferrable initially immediate)");
    engine.run("insert into t values (1, 100, 'old')");
    engine.run("insert into d values (1, 100)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /// @return the SQLSTATE of a statement after a look, when another transaction has committed in between
  private String after(Isolation isolation, String look, String other, String sql) {
    EngineTransaction transaction = engine.begin(isolation);
    engine.run(transaction, "select count(*) from d where id = 1");
    engine.run(transaction, look);
    engine.run(other);
    try {
      engine.run(transaction, sql);
      return "00000";
    } catch (EngineException failure) {
      return failure.code().sqlstate();
    } finally {
      engine.rollback(transaction);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        LOOK,
        "select * from t where id between 3 and 8",
        "select count(*) from t",
        "select max(id) from t",
        "select * from t where code = 500",
        "select 1 where exists (select from t where id in (5, 6))",
        "update t set note = 'x' where id = 5",
        "delete from t where id = 5"
      })
  void shouldReportSerializationFailureForKeyThatWasLookedFor(String look) {
    String other = "insert into t values (5, 500, 'first')";
    assertEquals("40001", after(Isolation.SERIALIZABLE, look, other, INSERT));
  }

  @Test
  void shouldReportSerializationFailureForKeysThatUpdatesMake() {
    String other = "insert into t values (5, 500, 'first')";
    String update = "update t set id = 5 where id = 1";
    assertEquals("40001", after(Isolation.SERIALIZABLE, LOOK, other, update));
    String deferrable = "insert into d values (2, 500)";
    String look = "select * from d where code = 500";
    assertEquals("40001", after(Isolation.SERIALIZABLE, look, deferrable, deferrable));
  }

  @Test
  void shouldReportDuplicateKeyToWhoHasNotLooked() {
    String look = "select * from t where id = 7";
    String other = "insert into t values (5, 500, 'first')";
    assertEquals("23505", after(Isolation.SERIALIZABLE, look, other, INSERT));
    // As for PostgreSQL, which promises nothing below SERIALIZABLE.
    engine.run("delete from t where id = 5");
    assertEquals("23505", after(Isolation.REPEATABLE_READ, LOOK, other, INSERT));
    engine.run("delete from t where id = 5");
    assertEquals("23505", after(Isolation.READ_COMMITTED, LOOK, other, INSERT));
  }

  @Test
  void shouldReportDuplicateKeyOfRowThatTheSnapshotShows() {
    String other = "insert into t values (9, 900, 'other')";
    assertEquals(
        "23505",
        after(Isolation.SERIALIZABLE, LOOK, other, "insert into t values (1, 111, 'again')"));
  }

  @Test
  void shouldReportSerializationFailureAfterWaitForTheOther() {
    EngineTransaction first = engine.begin(Isolation.SERIALIZABLE);
    EngineTransaction second = engine.begin(Isolation.SERIALIZABLE);
    engine.run(first, LOOK);
    engine.run(second, LOOK);
    engine.run(first, "insert into t values (5, 500, 'first')");
    Running waiting = engine.start(second, INSERT, ExecuteOptions.DEFAULT);
    engine.run(first, "select 1");
    assertFalse(waiting.done.isDone());
    engine.commit(first);
    assertState("40001", waiting::await);
    engine.rollback(second);
  }

  @Test
  void shouldNotLeaveAloneWhatTheSnapshotDoesNotShow() {
    String other = "insert into t values (5, 500, 'first') on conflict do nothing";
    String sql = INSERT + " on conflict do nothing";
    String look = "select 1";
    for (Isolation isolation : Isolation.values()) {
      String expected = isolation == Isolation.READ_COMMITTED ? "00000" : "40001";
      engine.run("delete from t where id = 5");
      assertEquals(expected, after(isolation, look, other, sql), isolation.name());
    }
  }

  /// The error of a failed insert is a look at the key.
  @Test
  void shouldDependOnKeysThatWereDuplicates() {
    EngineTransaction told = engine.begin(Isolation.SERIALIZABLE);
    EngineTransaction changes = engine.begin(Isolation.SERIALIZABLE);
    engine.run(changes, "select * from d");
    assertState("23505", () -> engine.run(told, "insert into t values (1, 111, 'again')"));
    engine.run(told, "insert into d values (7, 700)");
    engine.run(changes, "delete from t where id = 1");
    engine.commit(changes);
    EngineException refused =
        Assertions.assertThrows(EngineException.class, () -> engine.commit(told));
    assertEquals("40001", refused.code().sqlstate());
  }
}
