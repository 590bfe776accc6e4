package dev.kakehashi.pgwire;

import static dev.kakehashi.tck.drive.DrivenEngine.failureOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Rows in bulk. The number of commands that have inserted the rows of a table tells whether they went by COPY: each INSERT is one.
class CopiedRowsTest extends OnPgWireServer {
  private static final int COUNT = 500;
  private static final String INSERT = "INSERT INTO public.t(id, v) VALUES ($1, $2)";

  private PgWireEngine engine;
  private DrivenEngine client;

  @BeforeEach
  void open() throws IOException {
    engine = engine(new EngineLimits(10, 0, 0));
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t, other");
    client.run("drop view if exists seen");
    client.run("drop domain if exists short");
  }

  private static PgWireEngine engine(EngineLimits limits) throws IOException {
    return server.open(new PoolLimits(5, Duration.ofSeconds(30)), limits);
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
  }

  private static @Nullable Object[][] rows(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new @Nullable Object[] {(long) i, i % 7 == 0 ? null : "value " + i})
        .toArray(Object[][]::new);
  }

  private long insert(String sql, @Nullable Object[][] rows) {
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      long count = transaction.runBatch(sql, rows);
      transaction.commit();
      return count;
    }
  }

  private long commands() {
    return Long.parseLong(client.query("select count(distinct cmin::text) from t").getFirst());
  }

  @Test
  void shouldCopyManyRows() {
    client.run("create table t (id int8 primary key, v text)");
    assertEquals(COUNT, insert(INSERT, rows(COUNT)));
    assertEquals(1, commands());
    assertEquals(
        List.of("500|428|value 499"),
        client.query("select count(*), count(v), (select v from t where id = 499) from t"));
  }

  @Test
  void shouldCopyWithoutANameOfColumnsAndLeaveDefaultsToTheServer() {
    client.run(
        "create table t (id int8, v text, n int8 generated always as identity, w int8 generated always as (id * 2) stored,"
            + " at timestamptz default now(), x text default 'x')");
    assertEquals(COUNT, insert(INSERT, rows(COUNT)));
    assertEquals(1, commands());
    assertEquals(
        List.of("500|998|500"),
        client.query("select max(n), max(w), count(at) filter (where x = 'x') from t"));
    client.run("drop table t");
    client.run("create table t (id int8, v text)");
    assertEquals(COUNT, insert("insert into t values ($1, $2)", rows(COUNT)));
    assertEquals(1, commands());
  }

  @Test
  void shouldKeepValuesOfAllTypesThatItCopies() {
    client.run(
        "create table t (a bool, b int2, c int4, d int8, e float4, f float8, g numeric(12, 2), h text, i varchar(9), j bpchar(4), k bytea,"
            + " l date, m uuid, n json, o jsonb, p name)");
    @Nullable Object[] row = {
      true,
      (short) -2,
      3,
      4L,
      1.5f,
      -2.25,
      new BigDecimal("-12345.678"),
      "né",
      "nine",
      "b",
      new byte[] {0, -1, 65},
      LocalDate.of(2026, 11, 30),
      UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"),
      "{\"a\": 1}",
      "{\"b\":   [2, null]}"
    };
    String columns = "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o";
    String places = "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    @Nullable Object[][] many = IntStream.range(0, 100).mapToObj(i -> row).toArray(Object[][]::new);
    insert("insert into t (" + columns + ") values " + places, many);
    assertEquals(1, commands());
    client.run("create table other (like t)");
    client.run("insert into other (" + columns + ") values " + places, row);
    assertEquals(
        List.of("100|1"),
        client.query(
            "select count(*), count(distinct t::text) from t where t::text = (select other::text from other)"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "create trigger each after insert on t for each row execute function count_call()",
        "create trigger each after insert on t execute function count_call()",
        "alter table t add constraint own foreign key (up) references t (id)",
        "create rule r as on insert to t do also insert into other values (new.id)",
        "alter table t add column called int8 default count_rows()",
        "alter table t alter column id add generated always as identity"
      })
  void shouldNotCopyWhereItMeansSomethingElse(String definition) {
    client.run("create table t (id int8 primary key, v text, up int8)");
    client.run("create table other (calls int8)");
    client.run(
        "create or replace function count_call() returns trigger language plpgsql as $$ begin insert into other values (1); return new; end $$");
    client.run(
        "create or replace function count_rows() returns int8 language sql as 'select count(*) from t'");
    client.run(definition);
    if (definition.contains("identity")) {
      assertEquals("428C9", failureOf(() -> insert(INSERT, rows(COUNT))).sqlstate());
      String overriding = "insert into t (id, v) overriding system value values ($1, $2)";
      assertEquals(COUNT, insert(overriding, rows(COUNT)));
      assertEquals(1, commands());
      return;
    }
    assertEquals(COUNT, insert(INSERT, rows(COUNT)));
    assertEquals(COUNT, commands());
    long calls = Long.parseLong(client.query("select count(*) from other").getFirst());
    assertEquals(definition.contains("trigger") || definition.contains("rule") ? COUNT : 0, calls);
    if (definition.contains("count_rows")) {
      assertEquals(
          List.of("499"), client.query("select max(called) from t")); // each saw those before it
    }
  }

  @Test
  void shouldLookAtTheTableEachTime() {
    client.run("create table t (id int8, v text)");
    client.run("create table other (calls int8)");
    client.run(
        "create or replace function count_call() returns trigger language plpgsql as $$ begin insert into other values (1); return null; end $$");
    Statement insert = client.prepare(INSERT);
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          COUNT, transaction.startBatch(insert, ExecuteOptions.DEFAULT, rows(COUNT)).await());
      transaction.commit();
    }
    client.run("create trigger once after insert on t execute function count_call()");
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values (-1, 'mine')");
      assertEquals(
          COUNT, transaction.startBatch(insert, ExecuteOptions.DEFAULT, rows(COUNT)).await());
      transaction.commit();
    }
    assertEquals(List.of("1001"), client.query("select count(*) from t"));
    assertEquals(List.of("501"), client.query("select count(*) from other"));
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void shouldNameTheFirstRowThatFails(boolean first) {
    client.run("create table t (id int8 primary key, v text check (v <> 'value 300'))");
    client.run("insert into t values (100, 'there')");
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      if (!first) {
        transaction.run("insert into t values (-1, 'mine')");
      }
      // COPY would look at the checks of all rows before it looks at their keys.
      EngineException failure = failureOf(() -> transaction.runBatch(INSERT, rows(COUNT)));
      assertEquals("23505", failure.sqlstate());
      assertEquals("t_pkey", failure.constraintName());
      transaction.run("insert into t values (-2, 'mine')");
      transaction.commit();
    }
    assertEquals(
        List.of(first ? "-2,100" : "-2,-1,100"),
        client.query("select string_agg(id::text, ',' order by id) from t"));
  }

  @Test
  void shouldUndoCopiedRowsWithTheirSavepoint() {
    client.run("create table t (id int8 primary key, v text)");
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values (-1, 'mine')");
      transaction.savepoint(1);
      transaction.runBatch(INSERT, rows(COUNT));
      assertEquals(List.of("501"), transaction.query("select count(*) from t"));
      transaction.rollbackTo(1);
      transaction.commit();
    }
    assertEquals(List.of("-1"), client.query("select id from t"));
  }

  @Test
  void shouldEndAWaitOfCopyByACancel() {
    client.run("create table t (id int8 primary key, v text)");
    try (DrivenTransaction holder = client.begin(Isolation.READ_COMMITTED);
        DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      holder.run("insert into t values (400, 'held')");
      transaction.run("insert into t values (-1, 'mine')");
      RunningStatement running =
          transaction.startBatch(client.prepare(INSERT), ExecuteOptions.DEFAULT, rows(COUNT));
      Waits.until(
          "it waits",
          () ->
              !client
                  .query(
                      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'COPY%'")
                  .isEmpty());
      running.cancel();
      assertEquals("57014", failureOf(running::await).sqlstate());
      transaction.commit();
    }
    assertEquals(List.of("-1"), client.query("select id from t"));
  }

  @Test
  void shouldRefuseRowsThatAreTooMany() throws IOException {
    client.run("create table t (id int8 primary key, v text)");
    try (PgWireEngine limited = engine(new EngineLimits(10, 0, 9000));
        DrivenEngine other = new DrivenEngine(limited, "test", "");
        DrivenTransaction transaction = other.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values (-1, 'mine')");
      EngineException failure = failureOf(() -> transaction.runBatch(INSERT, rows(1000)));
      assertEquals(ErrorCode.LIMIT_EXCEEDED, failure.code());
      transaction.commit();
    }
    assertEquals(List.of("-1"), client.query("select id from t"));
  }

  /// Rows that are undone to go one by one do not count twice.
  @Test
  void shouldCountBytesOfRowsOnce() throws IOException {
    client.run("create table t (id int8 primary key, v text)");
    client.run("insert into t values (499, 'there')");
    try (PgWireEngine limited = engine(new EngineLimits(10, 0, 12_000));
        DrivenEngine other = new DrivenEngine(limited, "test", "");
        DrivenTransaction transaction = other.begin(Isolation.READ_COMMITTED)) {
      EngineException failure = failureOf(() -> transaction.runBatch(INSERT, rows(COUNT)));
      assertEquals("23505", failure.sqlstate(), failure::getMessage);
    }
  }

  @Test
  void shouldNotCopyIntoAView() {
    client.run("create table t (id int8, v text)");
    client.run("create view seen as select id, v from t");
    assertEquals(COUNT, insert("insert into seen (id, v) values ($1, $2)", rows(COUNT)));
    assertEquals(COUNT, commands());
    assertTrue(
        InsertByCopy.of("insert into t values ($2, $1)", new int[] {20, 25}, false) == null,
        "parameters in another order");
  }

  /// Nobody would be told that the thread has ended.
  @Test
  void shouldTakeAsManyLongNamesAsATableHas() {
    int count = 1600;
    String names =
        IntStream.range(0, count)
            .mapToObj(i -> "\"c%d%s\"\"\"".formatted(i, "_".repeat(55)))
            .collect(Collectors.joining(", "));
    String values =
        IntStream.rangeClosed(1, count).mapToObj(i -> "$" + i).collect(Collectors.joining(", "));
    int[] types = new int[count];
    Arrays.fill(types, TypeOid.INT4);
    InsertByCopy bulk =
        InsertByCopy.of(
            "INSERT INTO public.wide (" + names + ") VALUES (" + values + ")", types, false);
    assertTrue(Objects.requireNonNull(bulk).copy().contains(names));
  }
}
