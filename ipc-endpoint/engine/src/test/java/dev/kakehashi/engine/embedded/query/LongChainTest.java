package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Chains as programs write them: each operator is a level of the statement, and parser, planner and execution recurse over them.
final class LongChainTest {
  private static final int STACK_BYTES = 16 << 20;

  @TempDir Path directory;

  private TestEngine engine;

  @BeforeEach
  void open() throws IOException {
    engine = new TestEngine(directory);
    engine.query("create table t (id int primary key, s text)");
    engine.query("insert into t select i, 's' || i from generate_series(1, 100) i");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /// @param term with `#` for the number
  private static String chain(int count, String operator, String term) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> term.replace("#", Integer.toString(i)))
        .collect(Collectors.joining(" " + operator + " "));
  }

  @Test
  void shouldTakeChainsOfThousands() throws Exception {
    int count = 3000;
    int sum = count * (count + 1) / 2;
    int digits = IntStream.rangeClosed(1, count).map(i -> Integer.toString(i).length()).sum();
    Map<String, String> cases = new LinkedHashMap<>();
    cases.put("select count(*) from t where " + chain(count, "or", "id = #"), "100");
    cases.put("select count(*) from t where " + chain(count, "or", "(id = # and s = 's#')"), "100");
    cases.put("select count(*) from t where " + chain(count, "and", "id <> # + 50"), "50");
    cases.put("select " + chain(count, "+", "#"), "" + sum);
    cases.put("select max(id + " + chain(count, "+", "#") + ") from t", "" + (sum + 100));
    cases.put(
        "select length(s || " + chain(count, "||", "'#'") + ") from t where id = 1",
        "" + (digits + 2));
    cases.put("select " + "(".repeat(count) + "1" + ")".repeat(count), "1");
    cases.put("select " + "abs(".repeat(count) + "-1" + ")".repeat(count), "1");
    cases.put("select " + "not ".repeat(count) + "true", "t");
    cases.put("select case " + chain(count, "", "when 1 = # + 1 then #") + " else 0 end", "0");
    onReceiver(() ->
        cases.forEach((sql, expected) -> assertEquals(List.of(expected), engine.query(sql), sql)));
  }

  /// PostgreSQL keeps AND and OR flat, so that no stack bounds them.
  @Test
  void shouldTakeConditionsAsLongAsPostgreSqlDoes() throws Exception {
    int count = 10_000;
    Map<String, String> cases = new LinkedHashMap<>();
    cases.put("select count(*) from t where " + chain(count, "or", "id = #"), "100");
    cases.put("select count(*) from t where " + chain(count, "and", "id <> # + 50"), "50");
    cases.put(
        "select count(*) from t where "
            + chain(count / 4, "or", "id between # and # and s <> 's7'"),
        "99");
    cases.put("select count(*) from t where id in (" + chain(count, ",", "#") + ")", "100");
    cases.put("select count(*) from (values " + chain(count, ",", "(#)") + ") v", "" + count);
    onReceiver(() ->
        cases.forEach((sql, expected) ->
            assertEquals(List.of(expected), engine.query(sql), sql.substring(0, 60))));
  }

  /// Light statements run on the thread that receives them, whose stack is as large as a worker's.
  private static void onReceiver(Runnable statements) throws Exception {
    FutureTask<Boolean> task = new FutureTask<>(statements, true);
    new Thread(null, task, "receiver", STACK_BYTES).start();
    assertTrue(task.get());
  }

  @Test
  void shouldRefuseWhatTheStackDoesNotHold() throws Exception {
    int count = 100_000;
    List<String> deep =
        List.of(
            "select " + "(".repeat(count) + "1" + ")".repeat(count),
            "select " + "abs(".repeat(count) + "1" + ")".repeat(count),
            "select " + chain(count, "+", "1"),
            "select " + chain(count, "||", "'x'"),
            "select " + chain(count, "|", "1"),
            "select " + chain(count, "=", "true"),
            "select 1 " + "is distinct from 1 ".repeat(count),
            "select 1" + "::int".repeat(count),
            "select " + "- ".repeat(count) + "1",
            "select " + "not ".repeat(count) + "true",
            "select " + chain(count, "+", "case when true then 1 end"),
            "select '{}'::int[]" + "[1]".repeat(count),
            "select 1 where " + chain(2 * count, "between 1 and", "1"));
    onReceiver(() -> {
      for (String sql : deep) {
        EngineException refused = assertThrows(EngineException.class, () -> engine.query(sql));
        assertEquals("54000", refused.code().sqlstate(), sql.substring(0, 30));
        assertEquals(List.of("100"), engine.query("select count(*) from t"));
      }
    });
  }

  @Test
  void shouldBoundTheTablesOfAStatement() throws Exception {
    engine.query("create view v0 as select id from t where id < 3");
    for (int i = 1; i <= 11; i++) {
      engine.query(
          "create view v%d as select a.id from v%d a join v%d b using (id)"
              .formatted(i, i - 1, i - 1));
    }
    List<String> refused =
        List.of(
            PlanningCases.doubling(24),
            "select count(*) from v11 a, v11 b, v11 c",
            "create view w as select a.id from v11 a, v11 b, v11 c");
    onReceiver(() -> {
      for (String sql : refused) {
        EngineException failure = assertThrows(EngineException.class, () -> engine.query(sql));
        assertEquals("54000", failure.code().sqlstate(), sql);
      }
      assertEquals(List.of("1"), engine.query("select count(*) from v5 where id = 1"));
    });
  }

  /// One operation of many inputs, whatever types they have.
  @Test
  void shouldTakeThousandsOfUnions() throws Exception {
    int count = 5_000;
    Map<String, String> cases = new LinkedHashMap<>();
    cases.put(
        "select count(*), sum(x) from (" + chain(count, "union all", "select # as x") + ") q",
        count + "|" + count * (count + 1) / 2);
    cases.put(
        "select count(*) from ("
            + chain(count / 2, "union", "select # % 7 as x, 'a' as y")
            + " union select 2.5, null union all select null, 'b') q",
        "9");
    cases.put(
        "select count(*) from ("
            + chain(300, "union all", "select id from t where id = #")
            + " except select 5 union select 5.5) q",
        "100");
    onReceiver(() ->
        cases.forEach((sql, expected) ->
            assertEquals(List.of(expected), engine.query(sql), sql.substring(0, 60))));
  }

  @Test
  void shouldRefuseRegularExpressionsThatAreTooComplex() {
    for (String pattern :
        List.of(
            "((((a{0,100}){0,100}){0,100}){0,100})b",
            "((a{255}){255}){2}",
            "(?:(?:[ab]{200,}){200,}){3}")) {
      EngineException refused =
          assertThrows(
              EngineException.class,
              () -> engine.query("select s from t where s ~ '" + pattern + "'"));
      assertEquals("2201B", refused.code().sqlstate(), pattern);
    }
    assertEquals(
        List.of("t|f|t"),
        engine.query(
            "select repeat('ab', 600) ~ '^((ab){2}){255}', repeat('ab', 600) ~ '^((ab){3}){255}$',"
                + " 'aaab' ~ '^(a|b){4}$'"));
  }

  /// Plans are kept.
  @Test
  void shouldKeepNoLongValuesInPlans() {
    String plan =
        String.join("\n", engine.query("explain (verbose) select repeat('x', 300000000) from t"));
    assertTrue(plan.contains("repeat(") && plan.length() < 1_000, plan);
    assertEquals(List.of("300000000"), engine.query("select length(repeat('x', 300000000))"));
  }

  /// A definition is parsed when it is prepared, and bound when it is executed. A statement without an answer has the transaction's turn
  /// for ever.
  @Test
  void shouldRefuseDefinitionsThatTheStackDoesNotHold(@TempDir Path other) {
    String sum = chain(20_000, "+", "#");
    try (TestEngine small = TestEngine.withWorkerStack(other, 512)) {
      for (String sql :
          List.of("create view v as select " + sum, "create table c as select " + sum + " as n")) {
        EngineException refused = assertThrows(EngineException.class, () -> small.query(sql));
        assertEquals("54000", refused.code().sqlstate(), sql.substring(0, 30));
        assertEquals(List.of("1"), small.query("select 1"));
      }
    }
  }
}
