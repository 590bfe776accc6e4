package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The time zone is the session's, and part of the transaction that sets it. Results of statements in a zone are in `time-zone.sql`.
final class TimeZoneTest {
  private static final String NOON = "select extract(hour from timestamptz '2024-07-01 12:00Z')";
  private static final String LITERAL = "select extract(epoch from timestamptz '1970-01-01 00:00')";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldKeepZonesOfSessionsApart() {
    TestEngine.Other other = engine.other();
    engine.run("set time zone 'Asia/Tokyo'");
    assertEquals(List.of("21"), engine.query(NOON));
    assertEquals(List.of("12"), other.query(NOON));
    assertEquals(List.of("Asia/Tokyo"), engine.query("show timezone"));
    assertEquals(List.of("UTC"), other.query("show timezone"));
  }

  @Test
  void shouldReadLiteralsOfACachedPlanInTheZoneOfTheSession() {
    TestEngine.Other other = engine.other();
    assertEquals(List.of("0.000000"), engine.query(LITERAL));
    engine.run("set time zone 'Asia/Tokyo'");
    assertEquals(List.of("-32400.000000"), engine.query(LITERAL));
    assertEquals(List.of("0.000000"), other.query(LITERAL));
    engine.run("set time zone 'America/New_York'");
    assertEquals(List.of("18000.000000"), engine.query(LITERAL));
    engine.run("reset timezone");
    assertEquals(List.of("0.000000"), engine.query(LITERAL));
  }

  @Test
  void shouldReadLiteralsOfAPreparedStatementInTheZoneOfItsExecution() {
    Statement literal = engine.prepare(LITERAL);
    Statement hour = engine.prepare(NOON);
    engine.run("set time zone 'Asia/Tokyo'");
    assertEquals(List.of("-32400.000000"), rows(literal));
    assertEquals(List.of("21"), rows(hour));
    engine.run("set time zone 'UTC'");
    assertEquals(List.of("0.000000"), rows(literal));
    assertEquals(List.of("12"), rows(hour));
  }

  private List<String> rows(Statement statement) {
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    try {
      return engine.execute(transaction, statement, new @Nullable Object[][] {{}}).rows();
    } finally {
      engine.rollback(transaction);
    }
  }

  @Test
  void shouldForgetTheZoneOfATransactionThatIsRolledBack() {
    engine.run("set time zone 'Asia/Tokyo'");
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    engine.run(transaction, "set time zone 'America/New_York'");
    assertEquals(List.of("8"), engine.run(transaction, NOON).rows());
    engine.rollback(transaction);
    assertEquals(List.of("21"), engine.query(NOON));
  }

  @Test
  void shouldForgetALocalZoneAtTheEndOfItsTransaction() {
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    engine.run(transaction, "set time zone 'Asia/Tokyo'");
    engine.run(transaction, "set local time zone 'America/New_York'");
    assertEquals(List.of("8"), engine.run(transaction, NOON).rows());
    engine.commit(transaction);
    assertEquals(List.of("21"), engine.query(NOON));
  }

  @Test
  void shouldBeginInTheZoneOfTheEndpoint() {
    engine.engine.timeZone("Asia/Kolkata");
    TestEngine.Other other = engine.other();
    assertEquals(List.of("17"), other.query(NOON));
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    other.run(transaction, "set time zone 'UTC'");
    other.run(transaction, "reset all");
    engine.commit(transaction);
    assertEquals(List.of("17"), other.query(NOON));
  }

  @Test
  void shouldReadDefinitionsInUtcByWhomever() {
    engine.run("set time zone 'Asia/Tokyo'");
    engine.run(
        "create table t (id int, at timestamptz default '2024-07-01 12:00' check (at >= '2024-07-01 12:00'))");
    engine.run("create view v as select id from t where at = '2024-07-01 12:00'");
    engine.run("insert into t (id) values (1)");
    engine.run("set time zone 'America/New_York'");
    engine.run("insert into t (id) values (2)");
    assertEquals(List.of("1", "2"), engine.query("select id from v order by id"));
    assertEquals(
        List.of("2"), engine.query("select count(*) from t where at = '2024-07-01 08:00'"));
  }

  @Test
  void shouldRefuseUnknownZonesAndSettingsOfTheEndpoint() {
    EngineException unknown =
        assertThrows(EngineException.class, () -> engine.run("set time zone 'Nowhere/Land'"));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, unknown.code());
    assertEquals(15, unknown.position());
    EngineException fixed =
        assertThrows(EngineException.class, () -> engine.run("set search_path to public"));
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, fixed.code());
    assertEquals(List.of("UTC"), engine.query("show time zone"));
  }
}
