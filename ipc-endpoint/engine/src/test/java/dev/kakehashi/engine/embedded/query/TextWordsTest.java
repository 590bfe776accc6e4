package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Groups of texts that lie in their words, and of some that do not, are those of a map.
final class TextWordsTest {
  private static final int ROWS = 5_000;
  private static final int KINDS = 40;

  @TempDir Path home;

  private record Row(@Nullable String plain, @Nullable String blank) {}

  private final long seed = ThreadLocalRandom.current().nextLong();
  private final Random random = new Random(seed);

  /// Has 0 to 9 characters, of which some have two bytes, and blanks at the end.
  private @Nullable String text(int kind) {
    if (kind == 0) {
      return null;
    }
    Random of = new Random(kind * 31L + seed);
    StringBuilder text = new StringBuilder();
    for (int length = of.nextInt(10); text.length() < length; ) {
      text.append("ab é".charAt(of.nextInt(4)));
    }
    return text.toString();
  }

  private static String literal(@Nullable String text) {
    return text == null ? "null" : "'" + text + "'";
  }

  @Test
  void shouldGroupByWords() {
    try (TestEngine engine = new TestEngine(home, 2, 256L << 20, 64L << 20, 1L << 30)) {
      engine.run("create table t (id int4 primary key, a text, b char(9), c bytea)");
      List<Row> rows = new ArrayList<>();
      StringBuilder insert = new StringBuilder("insert into t values ");
      for (int i = 0; i < ROWS; i++) {
        Row row = new Row(text(random.nextInt(KINDS)), text(random.nextInt(KINDS)));
        rows.add(row);
        insert
            .append(i == 0 ? "" : ", ")
            .append(
                "(%d, %s, %s, convert_to(%s, 'UTF8'))"
                    .formatted(i, literal(row.plain), literal(row.blank), literal(row.plain)));
      }
      engine.run(insert.toString());
      compare(engine, rows);
      // Rows with older versions, and pages with gaps, are read another way.
      engine.run("update t set a = a where id % 3 = 0");
      engine.run("delete from t where id % 50 = 49");
      for (int i = ROWS - 1; i >= 0; i--) {
        if (i % 50 == 49) {
          rows.remove(i);
        }
      }
      compare(engine, rows);
    }
  }

  private void compare(TestEngine engine, List<Row> rows) {
    List<String> plain = groups(rows, row -> shown(row.plain));
    List<String> blank = groups(rows, row -> shown(trimmed(row.blank)));
    List<String> both = groups(rows, row -> shown(row.plain) + shown(trimmed(row.blank)));
    String what = "seed " + seed;
    String a = "coalesce('<' || a || '>', '-')";
    String b = "coalesce('<' || rtrim(b::text) || '>', '-')";
    assertEquals(plain, query(engine, a, "from t group by a"), what);
    assertEquals(plain, query(engine, a, "from t where id >= 0 group by a"), what);
    assertEquals(blank, query(engine, b, "from t group by b"), what);
    assertEquals(both, query(engine, a + " || " + b, "from t group by a, b"), what);
    // An expression has made the values, and both are in one table of groups.
    assertEquals(plain, query(engine, a, "from (select a || '' as a from t) t group by a"), what);
    assertEquals(
        blank,
        query(
            engine,
            b,
            "from (select b from t where id % 2 = 0 union all select (b::text || ' ')::char(9) from t where id % 2 = 1) t group by b"),
        what);
    assertEquals(
        plain,
        query(engine, "coalesce('<' || convert_from(c, 'UTF8') || '>', '-')", "from t group by c"),
        what);
    assertEquals(
        List.of(String.valueOf(plain.size() - (plain.getFirst().startsWith("-") ? 1 : 0))),
        engine.query("select count(distinct a) from t"),
        what);
    assertEquals(
        engine.query(
            "select a || '', max(b), count(a), min(a || '') from t group by a || '' order by 1"),
        engine.query("select a, max(b), count(a), min(a) from t group by a order by 1"),
        what);
  }

  /// A filter remembers what it has said of a word, also of texts that are in memory once; rows with long ones are asked each time.
  @Test
  void shouldFilterByWords() {
    try (TestEngine engine = new TestEngine(home, 2, 256L << 20, 64L << 20, 1L << 30)) {
      engine.run("create table t (id int4 primary key, s text, d text, l text)");
      engine.run(
          "insert into t select i, case when i % 11 > 0 then 's' || i % 13 end, 'a text of the kind ' || i % 40, 'kind ' || i % 40 || ' number ' || i"
              + " from generate_series(1, 20000) i");
      engine.run("update t set d = d || '!' where id % 9 = 0");
      engine.run("delete from t where id % 100 = 3");
      List<String> conditions =
          List.of(
              "%s = 's4' or %s = 'a text of the kind 7'",
              "%s like '%%kind 1%%' or %s = 's1'",
              "%s in ('s1', 's12', 'a text of the kind 3', 'a text of the kind 9!')",
              "not %s > 'k'",
              "%s is null",
              "%s is not null",
              "length(%s) between 2 and 20",
              "upper(%s) = 'S9' or %s like '%%9!' or %s like '%%99'",
              "coalesce(%s, 's1') = 's1'");
      for (String condition : conditions) {
        for (String column : List.of("s", "d", "l")) {
          // Nothing is remembered of a condition on two columns.
          String plain = condition.replace("%s", "(" + column + " || left(l, 0))");
          String remembering = condition.replace("%s", column).replace("%%", "%");
          String rows = "select id, s, d, l from t where %s order by id";
          List<String> expected = engine.query(rows.formatted(plain.replace("%%", "%")));
          assertEquals(expected, engine.query(rows.formatted(remembering)), remembering);
          assertEquals(
              expected.size(),
              Integer.parseInt(
                  engine
                      .query("select count(*) from t where id > 0 and " + remembering)
                      .getFirst()),
              remembering);
        }
      }
      // A failing row fails each time.
      String fails = "select id from t where 100 / (length(d) - 22) > 0";
      for (int i = 0; i < 3; i++) {
        TestEngine.assertState("22012", () -> engine.query(fails));
      }
      // The same plan with another parameter.
      for (String kind : List.of("3", "4", "5")) {
        assertEquals(
            engine.query(
                "select count(*) from t where d || '' = 'a text of the kind " + kind + "'"),
            engine.query("select count(*) from t where d = $1", "a text of the kind " + kind));
      }
    }
  }

  private static List<String> query(TestEngine engine, String key, String from) {
    return engine.query("select %s || count(*) %s order by 1".formatted(key, from));
  }

  private static String shown(@Nullable String text) {
    return text == null ? "-" : "<" + text + ">";
  }

  private static @Nullable String trimmed(@Nullable String text) {
    return text == null ? null : text.stripTrailing();
  }

  private static List<String> groups(List<Row> rows, Function<Row, String> key) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Row row : rows) {
      counts.merge(key.apply(row), 1, Integer::sum);
    }
    return counts.entrySet().stream()
        .map(each -> each.getKey() + each.getValue())
        .sorted()
        .toList();
  }
}
