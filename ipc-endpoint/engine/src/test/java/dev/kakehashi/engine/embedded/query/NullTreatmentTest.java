package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// IGNORE NULLS and RESPECT NULLS of window functions, as PostgreSQL 19 has them.
final class NullTreatmentTest {
  private static final String ROWS =
      " from (values (1, null), (2, 'b'), (3, null), (4, 'd'), (5, 'e'), (6, null)) w(i, v)";

  @TempDir Path directory;

  @Test
  void shouldLeaveOutRowsWithoutAValue() {
    try (TestEngine engine = new TestEngine(directory)) {
      assertEquals(
          List.of("NULL,NULL,b,b,d,e"), values(engine, "lag(v) ignore nulls over (order by i)"));
      assertEquals(
          List.of("NULL,NULL,b,NULL,d,e"),
          values(engine, "lag(v) respect nulls over (order by i)"));
      assertEquals(
          List.of("d,e,e,NULL,NULL,NULL"),
          values(engine, "lead(v, 2) ignore nulls over (order by i)"));
      assertEquals(
          List.of("x,x,x,x,b,d"), values(engine, "lag(v, 2, 'x') ignore nulls over (order by i)"));
      assertEquals(
          List.of("NULL,b,NULL,d,e,NULL"),
          values(engine, "lag(v, 0) ignore nulls over (order by i)"));
      assertEquals(
          List.of("b,d,d,e,NULL,NULL"),
          values(engine, "lag(v, -1) ignore nulls over (order by i)"));
      assertEquals(
          List.of("NULL,b,b,b,b,b"),
          values(engine, "first_value(v) ignore nulls over (order by i)"));
      assertEquals(
          List.of("NULL,b,b,d,e,e"),
          values(engine, "last_value(v) ignore nulls over (order by i)"));
      assertEquals(
          List.of("NULL,NULL,NULL,d,d,d"),
          values(engine, "nth_value(v, 2) ignore nulls over (order by i)"));
      assertEquals(
          List.of("b,NULL,d,e,d,e"),
          values(
              engine,
              "last_value(v) ignore nulls over (order by i rows between 2 preceding and 1 following exclude current row)"));
      assertEquals(
          List.of("lag"),
          engine.run("select lag(v) ignore nulls over (order by i)" + ROWS).columns().stream()
              .map(column -> column.name())
              .toList());
    }
  }

  private static List<String> values(TestEngine engine, String call) {
    return List.of(String.join(",", engine.query("select " + call + ROWS + " order by i")));
  }

  @Test
  void shouldTakeItOfValueFunctionsAlone() {
    try (TestEngine engine = new TestEngine(directory)) {
      for (String call :
          List.of(
              "row_number() ignore nulls over ()",
              "ntile(2) respect nulls over ()",
              "lag(v) filter (where i > 1) ignore nulls over ()")) {
        TestEngine.assertState("0A000", () -> engine.query("select " + call + ROWS));
      }
      for (String call :
          List.of(
              "count(v) ignore nulls over ()",
              "max(v) respect nulls over ()",
              "count(v) ignore nulls",
              "count(v) filter (where i > 1) ignore nulls over ()",
              "upper(v) ignore nulls",
              "lag(v) ignore nulls",
              "upper(v) respect nulls over ()")) {
        TestEngine.assertState("42809", () -> engine.query("select " + call + ROWS));
      }
      TestEngine.assertState("42883", () -> engine.query("select nothing(v) ignore nulls" + ROWS));
      TestEngine.assertState("42601", () -> engine.query("select v ignore nulls over ()" + ROWS));
    }
  }

  @Test
  void shouldLeaveTheWordsToNames() {
    try (TestEngine engine = new TestEngine(directory)) {
      assertEquals(
          List.of("1|2|3"),
          engine.query(
              "select ignore, respect, nulls from (select abs(1) ignore, (2) respect, 3 as nulls) respect"));
    }
  }

  private record Row(int id, int group, String value) {}

  @Test
  void shouldAgreeWithAModel() {
    check(directory, 256L << 20, false);
  }

  @Test
  void shouldAgreeWithAModelWhereRowsAreInFiles() {
    check(directory, 1L << 20, true);
  }

  private static void check(Path directory, long statementBytes, boolean spills) {
    long seed = Long.getLong("kakehashi.seed", 20261129L);
    System.out.println("NullTreatmentTest: -Dkakehashi.seed=" + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory, 2, 256L << 20, statementBytes, 1L << 30)) {
      engine.run("create table w (id int primary key, g int, v text)");
      engine.run(
          "insert into w select i, i * 7919 % 11, case when i * 31 % 7 < 4 then null else md5(i::text) || repeat('x', i % 90) end"
              + " from generate_series(1, 6000) s(i)");
      List<Row> all = new ArrayList<>();
      for (String row : engine.query("select g, id, v from w order by g, id")) {
        String[] parts = row.split("\\|", -1);
        all.add(new Row(Integer.parseInt(parts[1]), Integer.parseInt(parts[0]), parts[2]));
      }
      for (int i = 0; i < 12; i++) {
        checkOne(engine, all, random);
      }
      assertEquals(spills, engine.engine.tempSpace().writtenBytes() > 0);
    }
  }

  private static void checkOne(TestEngine engine, List<Row> all, Random random) {
    String function =
        List.of("lag", "lead", "first_value", "last_value", "nth_value").get(random.nextInt(5));
    boolean isNeighbour = function.length() <= 4;
    int number = 1 + random.nextInt(4);
    int before = random.nextInt(9);
    int after = random.nextInt(9);
    boolean grows = random.nextInt(3) == 0;
    String sql =
        "select id, %s(v%s) ignore nulls over (partition by g order by id%s) from w order by g, id"
            .formatted(
                function,
                isNeighbour || function.equals("nth_value") ? ", " + number : "",
                isNeighbour
                    ? ""
                    : " rows between %s preceding and %d following"
                        .formatted(grows ? "unbounded" : before, after));
    List<String> expected = new ArrayList<>();
    for (int first = 0; first < all.size(); ) {
      int end = first;
      while (end < all.size() && all.get(end).group == all.get(first).group) {
        end++;
      }
      for (int at = first; at < end; at++) {
        int from = Math.max(first, function.equals("lead") ? at + 1 : at - before);
        int to = Math.min(end, function.equals("lag") ? at : at + after + 1);
        if (isNeighbour || grows) {
          from = function.equals("lead") ? at + 1 : first;
          to = function.equals("lead") ? end : function.equals("lag") ? at : to;
        }
        List<String> found = new ArrayList<>();
        for (Row row : all.subList(from, Math.max(from, to))) {
          if (!row.value.equals("NULL")) {
            found.add(row.value);
          }
        }
        boolean backwards = function.equals("lag") || function.equals("last_value");
        int wanted = isNeighbour || function.equals("nth_value") ? number : 1;
        expected.add(
            all.get(at).id
                + "|"
                + (found.size() < wanted
                    ? "NULL"
                    : found.get(backwards ? found.size() - wanted : wanted - 1)));
      }
      first = end;
    }
    assertTrue(expected.size() == all.size());
    assertEquals(expected, engine.query(sql), sql);
  }
}
