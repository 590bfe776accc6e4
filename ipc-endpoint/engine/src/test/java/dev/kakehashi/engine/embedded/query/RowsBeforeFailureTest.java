package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// An expression that fails for a row is an error when that row's turn has come: what was found before it has reached the reader.
final class RowsBeforeFailureTest {
  /// The row whose z is 0.
  private static final int FAILING = 1500;

  @TempDir Path directory;

  private TestEngine engine;

  @BeforeEach
  void fill() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, z int not null, g int, v text)");
    engine.run(
        "insert into t select i, case i when 1500 then 0 else 1 end, i % 2, 'v' || i from generate_series(1, 3000) i");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static List<String> numbers(int step, int before) {
    return IntStream.rangeClosed(1, before - 1)
        .filter(i -> i % step == 0)
        .mapToObj(Integer::toString)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select id from t where 12 / z > 3",
        "select id from t where id > 0 and id < 100000 and 12 / z > 3",
        "select id * (12 / z) / 12 from t",
        "select id from (select id, 12 / z as q from t offset 0) s where q > 3",
        "select t.id from t join (select g from t where id < 3) u on u.g = t.g and 12 / t.z > u.g"
      })
  void shouldHandOnTheRowsBeforeTheOneThatFails(String query) {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(transaction, engine.prepare(query), new Object[][] {{}}, Integer.MAX_VALUE, 0);
    EngineException thrown = assertThrows(EngineException.class, running::await);
    assertEquals(ErrorCode.DIVISION_BY_ZERO, thrown.code());
    assertEquals(numbers(1, FAILING), running.rows());
    // Reading has failed, and nothing else.
    assertEquals(List.of("3000"), engine.run(transaction, "select count(*) from t").rows());
    engine.commit(transaction);
  }

  @Test
  void shouldHandOnWhatEarlierRowsOfParametersFound() {
    Statement statement = engine.prepare("select id from t where id = $1 and 12 / z > 3");
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            transaction,
            statement,
            new Object[][] {{"7"}, {"9"}, {"1500"}, {"11"}},
            Integer.MAX_VALUE,
            0);
    assertThrows(EngineException.class, running::await);
    assertEquals(List.of("7", "9"), running.rows());
    engine.commit(transaction);
  }

  @Test
  void shouldNotFailWhereALimitEndsBefore() {
    assertEquals(
        numbers(2, FAILING), engine.query("select id from t where g = 0 and 12 / z > 3 limit 749"));
    assertEquals(
        List.of("12"), engine.query("select 12 / z from t where id > 1498 and id < 1502 limit 1"));
    // An instance of the plan that has stood before a failure is used again.
    for (int i = 0; i < 3; i++) {
      assertEquals(List.of("1", "2"), engine.query("select id from t where 12 / z > 3 limit 2"));
    }
    assertThrows(
        EngineException.class, () -> engine.query("select id from t where 12 / z > 3 limit 1500"));
  }

  @Test
  void shouldChangeNothingWhenARowFails() {
    assertThrows(EngineException.class, () -> engine.run("update t set g = 9 where 12 / z > 3"));
    assertThrows(
        EngineException.class, () -> engine.run("delete from t where 12 / z > 3 returning id"));
    assertEquals(List.of("3000"), engine.query("select count(*) from t where g < 9"));
  }

  @Test
  void shouldHandOnNothingAfterAnotherFailure() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            transaction,
            engine.prepare("select v from t where id < 10 order by 12 / z, id"),
            new Object[][] {{}},
            Integer.MAX_VALUE,
            0);
    assertTrue(running.await().rows().size() == 9);
    TestEngine.Running sorted =
        engine.start(
            transaction,
            engine.prepare("select v from t order by 12 / z, id"),
            new Object[][] {{}},
            Integer.MAX_VALUE,
            0);
    assertThrows(EngineException.class, sorted::await);
    assertEquals(List.of(), sorted.rows());
    engine.commit(transaction);
  }
}
