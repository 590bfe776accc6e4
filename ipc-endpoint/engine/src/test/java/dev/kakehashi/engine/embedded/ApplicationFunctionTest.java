package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Functions of native applications in statements.
final class ApplicationFunctionTest {
  private static final int ROWS = Integer.getInteger("kakehashi.functions.rows", 5_000);

  @TempDir Path directory;
  private final WrittenApplications applications = new WrittenApplications();
  private final WrittenApplication library = library();
  private TestEngine engine;

  private static WrittenApplication library() {
    return new WrittenApplication()
        .longs("twice", Math::negateExact)
        .doubles("half", value -> value / 2)
        .objects(
            "vat",
            Volatility.IMMUTABLE,
            true,
            row -> ((BigDecimal) Objects.requireNonNull(row[0])).multiply(new BigDecimal("1.2")),
            TypeOid.NUMERIC,
            TypeOid.NUMERIC)
        .objects(
            "shown",
            Volatility.STABLE,
            false,
            row -> row[0] == null ? "none" : row[0] + "/" + row[1],
            TypeOid.TEXT,
            TypeOid.TEXT,
            TypeOid.INT4)
        .objects(
            "odd",
            Volatility.IMMUTABLE,
            true,
            row -> (Integer) Objects.requireNonNull(row[0]) % 2 == 0 ? null : row[0],
            TypeOid.INT4,
            TypeOid.INT4)
        .objects("ticket", Volatility.VOLATILE, true, row -> 1L, TypeOid.INT8)
        .objects(
            "checked",
            Volatility.IMMUTABLE,
            true,
            row -> {
              if ((Integer) Objects.requireNonNull(row[0]) < 0) {
                throw new EngineException(ErrorCode.RAISE_EXCEPTION, "too small");
              }
              return row[0];
            },
            TypeOid.INT4,
            TypeOid.INT4)
        .table(
            "days",
            true,
            7,
            WrittenApplication.fields(TypeOid.DATE, TypeOid.INT4),
            List.of(new Field("day", TypeOid.DATE, false), new Field("nr", TypeOid.INT4, true)),
            row ->
                IntStream.range(0, (Integer) Objects.requireNonNull(row[1]))
                    .mapToObj(i ->
                        new @Nullable Object[] {
                          ((LocalDate) Objects.requireNonNull(row[0])).plusDays(i),
                          i == 1 ? null : i
                        })
                    .iterator())
        .table(
            "given",
            false,
            1,
            WrittenApplication.fields(TypeOid.INT4, TypeOid.TEXT),
            List.of(new Field("", TypeOid.TEXT, true)),
            row -> List.<@Nullable Object[]>of(new Object[] {row[0] + "," + row[1]}).iterator())
        .aggregate(
            "product",
            true,
            all ->
                all.stream()
                    .map(each -> (BigDecimal) Objects.requireNonNull(each))
                    .reduce(BigDecimal::multiply)
                    .orElse(null),
            (a, b) -> a,
            TypeOid.NUMERIC,
            TypeOid.NUMERIC)
        .aggregate(
            "pairs",
            false,
            all -> all.stream().map(String::valueOf).collect(Collectors.joining(" ")),
            (a, b) -> a + "=" + b,
            TypeOid.TEXT,
            TypeOid.TEXT,
            TypeOid.INT4)
        .aggregate("mine", true, all -> (long) all.size(), (a, b) -> a, TypeOid.INT8, TypeOid.INT8);
  }

  @BeforeEach
  void open() {
    engine = TestEngine.withApplications(directory, ListQueues::new, () -> applications);
    engine.query("create application lib from " + applications.jar("lib", library));
  }

  @AfterEach
  void close() {
    engine.close();
    assertEquals(0, applications.uses.get(), "uses that were not closed");
  }

  private String one(String sql) {
    List<String> rows = engine.query(sql);
    assertEquals(1, rows.size(), sql);
    return rows.getFirst();
  }

  private EngineException refused(String sql) {
    return assertThrows(EngineException.class, () -> engine.query(sql));
  }

  private void fill() {
    engine.query("create table t (id bigint primary key, x double precision, n int, s text)");
    engine.query(
        "insert into t select i, i / 4.0, case when i % 3 <> 0 then i end, 's' || i from generate_series(1, "
            + ROWS
            + ") as g(i)");
  }

  @Test
  void shouldCallFunctionsOfEachForm() {
    assertEquals("-4|0.75|14.40|a/1", one("select twice(4), half(1.5), vat(12.0), shown('a', 1)"));
    assertEquals("-4", one("select public.twice(4)"));
  }

  @Test
  void shouldCallFunctionsForRowsOfTables() {
    fill();
    assertEquals(
        one("select sum(-id), sum(x / 2) from t"),
        one("select sum(twice(id)), sum(half(x)) from t"));
    assertEquals(
        one("select sum(-id) from t where id % 7 = 3"),
        one("select sum(twice(id)) from t where id % 7 = 3"));
    assertEquals(
        one("select count(*) from t where n % 2 <> 0"),
        one("select count(odd(n)) from t where odd(n) is not null"));
  }

  @Test
  void shouldNotCallStrictFunctionsWithNulls() {
    fill();
    long before = library.calls.get();
    assertEquals(
        one("select count(*) from t where n is null"),
        one("select count(*) from t where vat(n) is null"));
    assertEquals(Long.parseLong(one("select count(n) from t")), library.calls.get() - before);
    assertEquals("NULL|none", one("select twice(null), shown(null, null)"));
  }

  @Test
  void shouldComputeCallsOfConstantsOnce() {
    fill();
    long before = library.calls.get();
    one("select count(*) from t where id < half(1000)");
    assertEquals(1, library.calls.get() - before);
    one("select count(*) from t where id < half(1000)");
    assertEquals(1, library.calls.get() - before);
  }

  @Test
  void shouldCallVolatileFunctionsForEachRow() {
    fill();
    long before = library.calls.get();
    one("select sum(ticket()) from t");
    assertEquals(ROWS, library.calls.get() - before);
  }

  @Test
  void shouldGiveErrorsOfFunctions() {
    fill();
    EngineException failed = refused("select checked(-n) from t where n is not null");
    assertEquals(ErrorCode.RAISE_EXCEPTION, failed.code());
    // One that is not reached is none.
    assertEquals("1", one("select case when true then 1 else checked(-1) end"));
    assertEquals(ErrorCode.RAISE_EXCEPTION, refused("select checked(-1)").code());
  }

  @Test
  void shouldRefuseWhatFitsNoFunction() {
    EngineException failed = refused("select twice('x', 1)");
    assertEquals(ErrorCode.UNDEFINED_FUNCTION, failed.code());
    assertEquals(8, failed.position());
    assertEquals(ErrorCode.UNDEFINED_FUNCTION, refused("select other.twice(1)").code());
  }

  @Test
  void shouldGiveRowsOfTableFunctions() {
    assertEquals(
        List.of("2026-01-01|0", "2026-01-02|NULL", "2026-01-03|2"),
        engine.query("select * from days('2026-01-01', 3)"));
    assertEquals(
        List.of("2026-01-01|1", "2026-01-02|2"),
        engine.query("select day, o from days('2026-01-01', 2) with ordinality as d(day, nr, o)"));
    assertEquals(List.of(), engine.query("select * from days(null, 3)"));
    assertEquals(List.of("null,null"), engine.query("select * from given(null, null)"));
    assertEquals(List.of("1,x"), engine.query("select given from given(1, 'x')"));
  }

  @Test
  void shouldJoinTableFunctionsLaterally() {
    assertEquals(
        List.of("1|2026-01-01", "2|2026-01-01", "2|2026-01-02"),
        engine.query(
            "select g.i, d.day from generate_series(1, 2) g(i), lateral days('2026-01-01', i) d order by 1, 2"));
  }

  @Test
  void shouldAggregateGroups() {
    fill();
    assertEquals(
        "120|1=1 2=2|NULL",
        one(
            "select (select product(i) from generate_series(1, 5) g(i)),"
                + " (select pairs(i::text, i order by i) from generate_series(1, 2) g(i)),"
                + " (select product(i) from generate_series(1, 0) g(i))"));
    assertEquals(
        engine.query("select id % 17, count(n) from t group by 1 order by 1"),
        engine.query("select id % 17, mine(n) from t group by 1 order by 1"));
    assertEquals(
        one("select count(distinct id % 17) from t"), one("select mine(distinct id % 17) from t"));
    assertEquals(
        one("select count(*) from t where n > 10"),
        one("select mine(id) filter (where n > 10) from t"));
  }

  @Test
  void shouldAggregateOverWindows() {
    fill();
    String frame =
        "over (partition by id % 5 order by id rows between 2 preceding and current row)";
    assertEquals(
        engine.query("select id, count(n) " + frame + " from t order by id"),
        engine.query("select id, mine(n) " + frame + " from t order by id"));
  }

  @Test
  void shouldRefuseAggregatesWhereThereAreNone() {
    assertEquals(
        ErrorCode.GROUPING_ERROR, refused("select 1 from (select 1) t where mine(1) > 0").code());
  }

  @Test
  void shouldComputeCheapConditionsFirst() {
    fill();
    long before = library.calls.get();
    assertEquals("1", one("select count(*) from t where vat(id) > 0 and id + 0 = 7"));
    assertEquals(1, library.calls.get() - before);
  }

  @Test
  void shouldCallFunctionsInRulesOfTables() {
    engine.query(
        "create table r (id int primary key, d bigint default twice(21),"
            + " g bigint generated always as (twice(id)) stored, check (checked(id) > 0))");
    engine.query("insert into r (id) values (3)");
    assertEquals("3|-21|-3", one("select id, d, g from r"));
    assertEquals(ErrorCode.RAISE_EXCEPTION, refused("insert into r (id) values (-3)").code());
    engine.query("create view v as select twice(id) as x from r");
    assertEquals("-3", one("select x from v"));
  }

  @Test
  void shouldUseTheVersionOfTheCatalogue() {
    assertEquals("-4", one("select twice(4)"));
    engine.query(
        "alter application lib from "
            + applications.jar("new", new WrittenApplication().longs("twice", value -> 2 * value)));
    assertEquals("8", one("select twice(4)"));
    assertEquals(ErrorCode.UNDEFINED_FUNCTION, refused("select half(4)").code());
  }

  @Test
  void shouldKeepTheVersionOfARunningStatement() {
    fill();
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            transaction,
            engine.prepare("select twice(id) from t order by id"),
            new @Nullable Object[][] {{}},
            1,
            0);
    running.awaitFullSink();
    assertEquals(1, applications.uses.get());
    engine.query(
        "alter application lib from "
            + applications.jar("new", new WrittenApplication().longs("twice", value -> 2 * value)));
    assertEquals("8", one("select twice(4)"));
    while (!running.done.isDone()) {
      running.sink.release();
      Thread.onSpinWait();
    }
    assertEquals("-" + ROWS, running.await().rows().getLast());
    engine.rollback(transaction);
  }

  @Test
  void shouldRefuseDisabledFunctions() {
    fill();
    applications.disabled.put("public.twice", "it did not end");
    EngineException failed = refused("select twice(id) from t");
    assertEquals(ErrorCode.NOT_IN_PREREQUISITE_STATE, failed.code());
    assertEquals("it did not end", failed.detail());
    assertEquals("0.5", one("select half(1.0)"));
  }

  @Test
  void shouldFindRowsByIndexesOnFunctions() {
    fill();
    engine.query("create index on t (twice(id))");
    assertEquals("7", one("select id from t where twice(id) = -7"));
    String plan = String.join("\n", engine.query("explain select id from t where twice(id) = -7"));
    assertTrue(plan.contains("Index"), plan);
    assertEquals(
        ErrorCode.INVALID_OBJECT_DEFINITION, refused("create index on t ((shown(s, 1)))").code());
  }

  @Test
  void shouldExplainCalls() {
    fill();
    String plan = String.join("\n", engine.query("explain (analyze) select sum(twice(id)) from t"));
    assertTrue(plan.contains("twice"), plan);
    assertTrue(plan.contains("calls=" + ROWS), plan);
  }
}
