package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Functions in FROM: what is not the same everywhere. Their rows are compared with PostgreSQL's in `row-functions.sql`.
final class RowFunctionTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldCancelASeriesOfWhichNothingIsLeft() {
    EngineException canceled =
        assertThrows(
            EngineException.class,
            () ->
                engine.queryWithin(
                    TimeUnit.MILLISECONDS.toNanos(50),
                    "select g from generate_series(1, 9223372036854775807) g where g < 0"));
    assertEquals(ErrorCode.QUERY_CANCELED, canceled.code());
  }

  @Test
  void shouldTakeElementsOfAParameter() {
    assertEquals(
        List.of("1|3", "2|1", "3|2"),
        engine.query(
            "select n, x from unnest($1::int[]) with ordinality u(x, n) order by n", "{3,1,2}"));
  }

  @Test
  void shouldExpectTheRowsOfASeriesOfConstants() {
    List<String> plan = engine.query("explain select * from generate_series(1, 5000, 2) g");
    assertTrue(
        plan.getFirst().contains("Function Scan on generate_series")
            && plan.getFirst().contains("rows=2500"),
        plan::toString);
  }

  @Test
  void shouldGiveSessionsRandomNumbersOfTheirOwn() {
    engine.run("select setseed(0.25)");
    List<String> first = engine.query("select random()");
    engine.run("select setseed(0.25)");
    engine.other().query("select setseed(0.75)");
    assertEquals(first, engine.query("select random()"));
  }
}
