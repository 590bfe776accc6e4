package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Look-ups for several rows of parameters. The statements that the server has prepared tell how it was asked.
class LookupOfManyTest extends OnPgWireServer {
  private static final ExecuteOptions NEW_SNAPSHOT = new ExecuteOptions(true, 0, 0, 0);

  private PgWireEngine engine;
  private DrivenEngine client;

  @BeforeEach
  void open() throws IOException {
    engine = server.open(new PoolLimits(5, Duration.ofSeconds(30)), new EngineLimits(10, 0, 0));
    engine.gatherFrom(3);
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t");
    client.run("create table t (id int8, v text, n numeric(9, 2))");
    client.run(
        "insert into t select i % 50, case when i % 7 > 0 then 'v' || i % 5 end, i / 4.0 from generate_series(1, 2000) i");
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
  }

  /// Rows of a statement, and how many statements were prepared that ask about many rows.
  private record Asked(List<String> rows, String gathered) {}

  private Asked ask(String sql, @Nullable Object[][] parameters) {
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      List<String> rows =
          transaction.startBatch(client.prepare(sql), NEW_SNAPSHOT, parameters).awaitRows();
      String gathered =
          transaction
              .query(
                  "select count(*) from pg_prepared_statements where statement like '%kakehashi\\_keys%' and statement not like '%pg\\_prepared%'")
              .getFirst();
      transaction.rollback();
      return new Asked(rows, gathered);
    }
  }

  private List<String> oneByOne(String sql, @Nullable Object[][] parameters) {
    List<String> rows = new ArrayList<>();
    for (@Nullable Object[] each : parameters) {
      rows.addAll(client.query(sql, each));
    }
    return rows;
  }

  @Test
  void shouldAskAboutAllRowsInOneQuery() {
    String sql = "SELECT $1, \"v\", \"n\" FROM public.t WHERE (\"id\" = $2) AND (\"v\" = $3)";
    @Nullable Object[][] parameters = {
      {"1", 3L, "v3"},
      {"2", 4L, "v4"},
      {"3", 999L, "v4"},
      {"4", null, "v4"},
      {"5", 3L, null},
      {"6", 3L, "v3"}
    };
    Asked asked = ask(sql, parameters);
    assertEquals("1", asked.gathered());
    List<String> expected = oneByOne(sql, parameters);
    assertEquals(102, expected.size(), expected::toString);
    // Rows of one row of parameters have no order.
    assertEquals(expected.stream().sorted().toList(), asked.rows().stream().sorted().toList());
    List<String> numbers = asked.rows().stream().map(row -> row.split("\\|", 2)[0]).toList();
    assertEquals(numbers.stream().sorted().toList(), numbers);
  }

  @Test
  void shouldSendValuesOfAllKinds() {
    String sql =
        "SELECT $1, CAST($2 AS numeric), CAST($3 AS date), CAST($4 AS uuid), CAST($5 AS bool), CAST($6 AS float8) FROM public.t WHERE id = 1 AND n < 1 AND v = $7";
    UUID uuid = new UUID(1, 2);
    @Nullable Object[][] parameters = {
      {"1", new BigDecimal("1.50"), LocalDate.of(2020, 2, 29), uuid, true, 0.1, "v1"},
      {"2", null, null, null, null, null, "v1"},
      {"3", new BigDecimal("-12345678901234567890.5"), LocalDate.EPOCH, uuid, false, -0.0, "v1"},
      {"4", BigDecimal.ONE, LocalDate.EPOCH, uuid, false, 1.0, "Ünknown"}
    };
    Asked asked = ask(sql, parameters);
    assertEquals("1", asked.gathered());
    assertEquals(3, asked.rows().size(), () -> asked.rows().toString());
    assertEquals(oneByOne(sql, parameters), asked.rows());
  }

  @Test
  void shouldAskAboutFewRowsOneByOne() {
    String sql = "SELECT $1 FROM public.t WHERE (\"id\" = $2) AND n < 3";
    @Nullable Object[][] parameters = {{"1", 3L}, {"2", 4L}};
    assertEquals(new Asked(oneByOne(sql, parameters), "0"), ask(sql, parameters));
  }

  /// A function stands for a server that finds out that it does not run such a query.
  @Test
  void shouldAskOneByOneWhereTheServerRefusesTheForm() {
    client.run(
        "create or replace function refused(id int8) returns bool language plpgsql as $$ begin"
            + " if current_query() like '%kakehashi\\_keys%' then raise 'cannot push it down' using errcode = '0A000'; end if;"
            + " return true; end $$");
    String sql = "SELECT $1, v FROM public.t WHERE id = $2 AND refused(id)";
    @Nullable Object[][] parameters = {{"1", 1L}, {"2", 3L}, {"3", 3L}, {"4", 2L}};
    List<String> expected = oneByOne(sql, parameters);
    assertEquals(160, expected.size());
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values (-1)");
      Statement lookUp = client.prepare(sql);
      for (int time = 0; time < 2; time++) {
        assertEquals(
            expected, transaction.startBatch(lookUp, NEW_SNAPSHOT, parameters).awaitRows());
      }
      transaction.commit();
    }
    assertEquals(List.of("1"), client.query("select count(*) from t where id = -1"));
  }

  @Test
  void shouldFailAsTheRowDoes() {
    String sql = "SELECT $1, n / $2 FROM public.t WHERE id = 1";
    @Nullable Object[][] parameters = {
      {"1", BigDecimal.ONE}, {"2", BigDecimal.ONE}, {"3", BigDecimal.ZERO}, {"4", BigDecimal.ONE}
    };
    assertEquals(
        "22012", assertThrows(EngineException.class, () -> ask(sql, parameters)).sqlstate());
    assertEquals("2000", client.query("select count(*) from t").getFirst());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT id FROM t WHERE id = $1",
        "SELECT $1, id FROM t WHERE id = $2 FOR UPDATE",
        "SELECT $1, (SELECT max(id) FROM t) FROM t WHERE id = $2",
        "SELECT $1, id FROM t WHERE id = $2 LIMIT 1",
        "SELECT $1, id FROM t WHERE id = $3",
        "SELECT $1, id FROM t -- WHERE id = $2",
        "SELECT $1, id FROM t WHERE id = $2 UNION SELECT 1, 2"
      })
  void shouldLeaveOtherStatements(String sql) {
    assertNull(LookupOfMany.of(sql, new int[] {TypeOid.TEXT, TypeOid.INT8}));
  }

  @Test
  void shouldLeaveValuesThatAreArrays() {
    assertNull(LookupOfMany.of("SELECT $1 FROM t WHERE a = $2", new int[] {TypeOid.TEXT, 1007}));
  }
}
