package dev.kakehashi.examples.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.kakehashi.examples.functions.FunctionLibrary.Day;
import dev.kakehashi.testkit.KakehashiExtension;
import dev.kakehashi.testkit.TestPlatform;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The same results in the endpoint and in a process of its own.
@Timeout(60)
class FunctionLibraryTest {
  @RegisterExtension
  static final KakehashiExtension KAKEHASHI =
      KakehashiExtension.builder()
          .sql("CREATE TABLE numbers (id bigint PRIMARY KEY, grp integer, x double precision)")
          .sql("INSERT INTO numbers SELECT i, i % 3, i FROM generate_series(1, 5000) i")
          .application("near", FunctionLibrary.class)
          .sql("CREATE SCHEMA own")
          .application("own.far", FunctionLibrary.class, "isolation = 'process', memory = '64MB'")
          .build();

  private final TestPlatform platform = KAKEHASHI.platform();

  private <R> @Nullable R one(String sql, Class<R> type) {
    return platform.query(sql, type).getFirst();
  }

  @ParameterizedTest
  @ValueSource(strings = {"public.", "own."})
  void shouldComputeScalars(String schema) {
    assertEquals(
        true, one("SELECT " + schema + "luhn_valid('4111 1111 1111 1111')", Boolean.class));
    assertEquals(
        false, one("SELECT " + schema + "luhn_valid('4111 1111 1111 1112')", Boolean.class));
    assertNull(one("SELECT " + schema + "luhn_valid(NULL)", Boolean.class));
    assertEquals(
        new BigDecimal("108.10"), one("SELECT " + schema + "with_tax(100, 8.1)", BigDecimal.class));
    assertEquals(
        LongStream.rangeClosed(1, 5_000).map(i -> FunctionLibrary.mixed(i) % 1_000).sum(),
        one("SELECT sum(" + schema + "mixed(id) % 1000)::bigint FROM numbers", Long.class));
    assertEquals(0.5, one("SELECT " + schema + "logistic(0)", Double.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"public.", "own."})
  void shouldGiveRows(String schema) {
    assertEquals(
        List.of(
            new Day(LocalDate.of(2026, 11, 27), "FRIDAY"),
            new Day(LocalDate.of(2026, 11, 30), "MONDAY")),
        platform.query(
            "SELECT * FROM " + schema + "workdays('2026-11-27', '2026-11-30')", Day.class));
  }

  private record Mean(int grp, double mean) {}

  @ParameterizedTest
  @ValueSource(strings = {"public.", "own."})
  void shouldAggregateGroups(String schema) {
    List<Mean> means =
        platform.query(
            "SELECT grp, "
                + schema
                + "geometric_mean(x) AS mean FROM numbers GROUP BY grp ORDER BY grp",
            Mean.class);
    assertEquals(3, means.size());
    double product =
        LongStream.rangeClosed(1, 5_000)
            .filter(i -> i % 3 == 1)
            .mapToDouble(Math::log)
            .average()
            .orElseThrow();
    assertEquals(Math.exp(product), means.get(1).mean(), 1e-6);
    assertNull(
        one("SELECT " + schema + "geometric_mean(x) FROM numbers WHERE id < 0", Double.class));
    assertEquals(
        7.0,
        Objects.requireNonNull(
            one("SELECT " + schema + "geometric_mean(x) FROM numbers WHERE id = 7", Double.class)),
        0.01);
  }
}
