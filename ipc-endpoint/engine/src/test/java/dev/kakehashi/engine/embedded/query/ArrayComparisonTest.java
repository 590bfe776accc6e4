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

/// `= ANY (array)`, `<> ALL (array)` and IN: their values, and that keys are looked up.
final class ArrayComparisonTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, a int, b int, s text)");
    engine.run("create index t_ab on t (a, b)");
    engine.run("create unique index t_s on t (s)");
    StringBuilder rows = new StringBuilder("insert into t values (0, 0, null, null)");
    for (int i = 1; i < 300; i++) {
      rows.append(", (%d, %d, %d, 's%d')".formatted(i, i % 10, i, i));
    }
    engine.run(rows.toString());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private String plan(String sql) {
    return String.join("\n", engine.query("explain (verbose) " + sql));
  }

  private List<String> valuesOf(String expression) {
    return engine.query("select " + expression);
  }

  @Test
  void shouldLookUpKeysInsteadOfScanning() {
    for (String condition :
        List.of("id = any ('{7,3,3,NULL,1000,250}'::int[])", "id in (7, 3, 3, null, 1000, 250)")) {
      String plan = plan("select id from t where " + condition);
      assertTrue(plan.contains("Index Scan using t_pkey"), plan);
      assertTrue(plan.contains("any of"), plan);
      assertEquals(
          List.of("3", "7", "250"),
          engine.query("select id from t where " + condition + " order by id"));
    }
    String plan = plan("select id from t where a = any ('{3,4}'::int[]) and b = 13");
    assertTrue(plan.contains("Index Scan using t_ab"), plan);
    assertEquals(
        List.of("13"),
        engine.query("select id from t where a = any ('{3,4}'::int[]) and b = 13 and s <> ''"));
    assertEquals(
        List.of("5", "290"),
        engine.query("select id from t where s = any ('{s290,\"s5\",\"\",nothing}') order by id"));
    // A value that is wider than the column has no equal in it.
    assertEquals(
        List.of("4"),
        engine.query("select id from t where id = any ('{4,4294967300,-4294967292}'::int8[])"));
  }

  @Test
  void shouldPreferOneValueOfAUniqueKey() {
    String plan = plan("select id from t where a = any ('{3,4}'::int[]) and id = 13");
    assertTrue(plan.contains("Index Scan using t_pkey"), plan);
    assertEquals(
        List.of("13"), engine.query("select id from t where a = any ('{3,4}'::int[]) and id = 13"));
  }

  @Test
  void shouldSortRowsOfSeveralKeys() {
    assertEquals(
        List.of("30", "20", "10"),
        engine.query("select id from t where id = any ('{20,10,30}'::int[]) order by id desc"));
    assertEquals(
        List.of("10", "20"),
        engine.query("select id from t where id in (20, 10, 30) order by id limit 2"));
  }

  @Test
  void shouldChangeTheRowsThatItFinds() {
    assertEquals(
        List.of("5", "6"),
        engine.query("update t set a = -1 where id = any ('{6,5,5}'::int[]) returning id"));
    engine.run("delete from t where id = any ('{5,6,7}'::int[])");
    assertEquals(List.of("297"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldKnowThreeValues() {
    assertEquals(List.of("f"), valuesOf("5 = any ('{}'::int[])"));
    assertEquals(List.of("t"), valuesOf("null::int <> all ('{}'::int[])"));
    assertEquals(List.of("t"), valuesOf("(null::int = any ('{1}'::int[])) is null"));
    assertEquals(List.of("t"), valuesOf("(5 = any (null::int[])) is null"));
    assertEquals(List.of("t"), valuesOf("(5 = any ('{1,NULL}'::int[])) is null"));
    assertEquals(List.of("t"), valuesOf("5 = any ('{1,NULL,5}'::int[])"));
    assertEquals(List.of("f"), valuesOf("5 <> all ('{1,NULL,5}'::int[])"));
    assertEquals(List.of("t"), valuesOf("5 <> all ('[2:3][1:1]={{1},{4}}'::int[])"));
    assertEquals(List.of("0"), engine.query("select count(*) from t where id <> all ('{1,NULL}')"));
    assertEquals(List.of("299"), engine.query("select count(*) from t where id <> all ('{1}')"));
  }

  @Test
  void shouldCompareEveryTypeAsItsOperatorDoes() {
    assertEquals(List.of("t"), valuesOf("1.0 = any ('{2,1.000}'::numeric[])"));
    assertEquals(List.of("t"), valuesOf("'NaN'::float8 = any ('{NaN}'::float8[])"));
    assertEquals(List.of("f"), valuesOf("0.1::float8 = any ('{0.1}'::float4[])"));
    assertEquals(List.of("t"), valuesOf("0.5::float8 = any ('{0.5}'::float4[])"));
    assertEquals(List.of("t"), valuesOf("'a '::char(3) = any ('{\"a  \"}'::char(3)[])"));
    assertEquals(List.of("t"), valuesOf("timestamp '2020-01-02' = any ('{2020-01-02}'::date[])"));
    assertEquals(List.of("t"), valuesOf("interval '30 days' = any ('{\"1 mon\"}'::interval[])"));
    assertEquals(List.of("t"), valuesOf("'\\x0a'::bytea = any ('{\"\\\\x0a\"}'::bytea[])"));
    assertEquals(List.of("t"), valuesOf("'null' = any ('{\"null\",\" \\\"\\\\,{}\"}'::text[])"));
    assertEquals(List.of("t"), valuesOf("' \"\\,{}' = any ('{NULL,\" \\\"\\\\,{}\"}'::text[])"));
    assertEquals(List.of("t"), valuesOf("true = any ('{f,t}'::bool[])"));
  }

  @Test
  void shouldTakeArraysThatAreParameters() {
    assertEquals(
        List.of("1", "9"),
        engine.query("select id from t where id = any ($1) order by id", "{9,1,NULL}"));
    assertEquals(
        List.of("299"),
        engine.query("select count(*) from t where s <> all ($1)", "{}").stream()
            .map(n -> Integer.toString(Integer.parseInt(n) - 1))
            .toList());
  }

  @Test
  void shouldRefuseWhatIsNoArray() {
    assertState("22P02", "select 1 = any ('{1'::int[])");
    assertState("22P02", "select 1 = any ('{x}'::int[])");
    assertState("42809", "select 1 = any (5)");
    assertState("22P02", "select 1 < any ('{x}'::int[])");
    assertState("42809", "select 1 < all (5)");
  }

  private void assertState(String state, String sql) {
    assertEquals(
        state, assertThrows(EngineException.class, () -> engine.query(sql)).code().sqlstate(), sql);
  }
}
