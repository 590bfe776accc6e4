package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.embedded.TestEngine;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Filters, arithmetic and sums of numerics that lie in their words, and of some that do not, give what [BigDecimal] gives.
final class NumericWordsTest {
  private static final int ROWS = 5_000;

  @TempDir Path home;

  private record Row(@Nullable BigDecimal a, @Nullable BigDecimal b) {}

  private final long seed = ThreadLocalRandom.current().nextLong();
  private final Random random = new Random(seed);

  private @Nullable BigDecimal number() {
    return switch (random.nextInt(12)) {
      case 0 -> null;
      case 1 -> new BigDecimal("98765432109876543.21");
      case 2 -> new BigDecimal("-12345678901234.5");
      default -> BigDecimal.valueOf(random.nextInt(2_000_000) - 1_000_000, random.nextInt(4));
    };
  }

  @Test
  void shouldComputeWithWords() {
    try (TestEngine engine = new TestEngine(home, 2, 256L << 20, 64L << 20, 1L << 30)) {
      engine.run("create table t (id int4 primary key, a numeric, b numeric)");
      List<Row> rows = new ArrayList<>();
      StringBuilder insert = new StringBuilder("insert into t values ");
      for (int i = 0; i < ROWS; i++) {
        Row row = new Row(number(), number());
        rows.add(row);
        insert.append(i == 0 ? "" : ", ").append("(%d, %s, %s)".formatted(i, row.a, row.b));
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
    BigDecimal sum = BigDecimal.ZERO;
    BigDecimal products = BigDecimal.ZERO;
    BigDecimal differences = BigDecimal.ZERO;
    BigDecimal few = BigDecimal.ZERO;
    int count = 0;
    int products1 = 0;
    int less = 0;
    int between = 0;
    BigDecimal low = new BigDecimal("-50.5");
    BigDecimal high = new BigDecimal("120");
    for (Row row : rows) {
      BigDecimal a = row.a;
      BigDecimal b = row.b;
      if (a != null) {
        sum = sum.add(a);
        count++;
        if (a.compareTo(low) >= 0 && a.compareTo(high) <= 0) {
          between++;
          few = few.add(a.multiply(a));
        }
      }
      if (a != null && b != null) {
        products1++;
        products = products.add(a.multiply(BigDecimal.ONE.subtract(b)));
        differences = differences.add(a.subtract(b));
        less += a.compareTo(b) < 0 ? 1 : 0;
      }
    }
    String what = "seed " + seed;
    assertEquals(
        List.of(
            "%s|%d|%s|%d|%s"
                .formatted(
                    sum.toPlainString(),
                    count,
                    products.toPlainString(),
                    products1,
                    differences.toPlainString())),
        engine.query("select sum(a), count(a), sum(a * (1 - b)), count(a + b), sum(a - b) from t"),
        what);
    assertEquals(
        List.of(String.valueOf(less)), engine.query("select count(*) from t where a < b"), what);
    assertEquals(
        List.of(between + "|" + few.toPlainString()),
        engine.query("select count(a), sum(a * a) from t where a >= -50.5 and a <= 120"),
        what);
    assertEquals(
        List.of(between + "|" + between),
        engine.query(
            "select count(*), count(distinct id) from t where a between -50.5 and 120 and a + 1 > a and a::text <> ''"),
        what);
    assertEquals(
        List.of(sum.divide(BigDecimal.valueOf(count), 2, RoundingMode.HALF_UP).toPlainString()),
        engine.query("select round(avg(a), 2) from t"),
        what);
    assertEquals(
        engine.query("select a::text::numeric, sum(b::text::numeric) from t group by 1 order by 1"),
        engine.query("select a, sum(b) from t group by a order by a"),
        what);
  }
}
