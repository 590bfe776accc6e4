package dev.kakehashi.pgwire;

import static dev.kakehashi.tck.drive.DrivenEngine.failureOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.tck.drive.DrivenEngine;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// CREATE TABLE that says how rows are spread over nodes.
class DistributionTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "create table t (id int8) with (distributed_by = 'id') | create table t (id int8) | t | id |",
        "CREATE TABLE s.\"T)\" (a text DEFAULT ') with (') WITH (DISTRIBUTED_BY=a, colocate_with='s.o''x') | CREATE TABLE s.\"T)\" (a text DEFAULT ') with (') | s.\"T)\" | a | s.o'x",
        "create table if not exists t (id int8) /* with (x) */ with (fillfactor = 50, distributed_by = 'id', autovacuum_enabled) tablespace x | create table if not exists t (id int8) /* with (x) */ WITH (fillfactor = 50, autovacuum_enabled) tablespace x | t | id |",
        "create unlogged table t with (reference) as select 1 as x | create unlogged table t  as select 1 as x | t | |"
      })
  void shouldTakeTheOptionsOut(
      String sql, String create, String table, String column, String with) {
    Distribution found = Objects.requireNonNull(Distribution.of(sql));
    assertEquals(create, found.create().strip());
    assertEquals(table, found.table());
    assertEquals(column, found.column());
    assertEquals(with, found.colocateWith());
    assertEquals(column == null, found.reference());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "create table t (id int8) with (fillfactor = 50)",
        "create table t (id int8)",
        "create table t as with q (distributed_by) as (values (1)) select * from q",
        "create index i on t (id) with (distributed_by = 'id')"
      })
  void shouldLeaveOtherStatements(String sql) {
    assertNull(Distribution.of(sql));
  }

  @Test
  void shouldMakeAndSpreadInOneCommand() {
    assertEquals(
        "DO 'BEGIN EXECUTE ''create table t (a text default ''''x'''')'';"
            + " PERFORM pg_catalog.create_distributed_table(''t'', ''a'', colocate_with => ''default''); END'",
        Objects.requireNonNull(
                Distribution.of("create table t (a text default 'x')with (distributed_by = 'a')"))
            .command());
    assertEquals(
        "create table t (a text)",
        Objects.requireNonNull(Distribution.of("create table t (a text)with (reference = false)"))
            .command());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "create table t (id int8) with (reference = true, distributed_by = 'id')",
        "create table t (id int8) with (colocate_with = 'o')"
      })
  void shouldRefuseOptionsThatDoNotFitTogether(String sql) {
    assertEquals(
        "22023", assertThrows(EngineException.class, () -> Distribution.of(sql)).sqlstate());
  }

  @Test
  void shouldBeRefusedWhereThereAreNoNodes() throws IOException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    try (PgWireServer server = PgWireServer.start();
        PgWireEngine engine =
            PgWireEngine.open(
                PgWireUnderTest.config(
                    List.of(new ServerAddress("127.0.0.1", server.port())),
                    server.passwordFile()));
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      EngineException failure =
          failureOf(() -> client.run("create table t (id int8) with (distributed_by = 'id')"));
      assertEquals("0A000", failure.sqlstate());
      assertTrue(
          String.valueOf(failure.getMessage()).contains("has no nodes to spread table t over"),
          failure.getMessage());
      client.run("create table t (id int8) with (fillfactor = 50)");
    }
  }
}
