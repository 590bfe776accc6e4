package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Statement.Kind;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.protocol.capability.Capability;
import org.junit.jupiter.api.Test;

/// Facts that are known of a statement before the server has seen it.
class SqlTextTest {
  private static Kind kind(String sql) {
    return SqlText.of(sql).kind();
  }

  @Test
  void shouldKnowQueriesFromChanges() {
    assertEquals(
        Kind.QUERY,
        kind("select 'insert into t' -- delete\n, \"update\" /* /* merge */ */ from t"));
    assertEquals(Kind.QUERY, kind("(values (1))"));
    assertEquals(Kind.QUERY, kind("with a as (select 1) select * from a for no key update"));
    assertEquals(
        Kind.QUERY,
        kind("with a as (select $$delete$$, $x$update$x$, E'\\' insert') select * from a"));
    assertEquals(Kind.DML, kind("with a as (delete from t returning id) select * from a"));
    assertEquals(
        Kind.DML, kind("WITH a AS (UPDATE t SET v = 1 RETURNING id) SELECT * FROM a FOR UPDATE"));
    assertEquals(Kind.DML, kind("/* x */ insert into t values ($1)"));
    assertEquals(Kind.DDL, kind("create table t (id int8)"));
  }

  @Test
  void shouldKnowWhatIsOfTheConnection() {
    assertEquals("COMMIT", SqlText.of("commit and chain").ofConnection());
    assertEquals("SET", SqlText.of("set search_path = x").ofConnection());
    assertNull(SqlText.of("set constraints all deferred").ofConnection());
    assertNull(SqlText.of("select 'commit'").ofConnection());
    assertTrue(SqlText.of("SET SESSION TIME ZONE 'UTC'").setsTimeZone());
  }

  @Test
  void shouldKnowWhatTheEngineLacks() {
    assertEquals(Capability.ROLES, SqlText.of("create role r").lacking());
    assertEquals(Capability.QUEUES, SqlText.of("drop queue q").lacking());
    assertEquals(Capability.COPY_FILES, SqlText.of("copy t to 'x'").lacking());
    assertNull(SqlText.of("create table role (id int8)").lacking());
  }

  @Test
  void shouldKnowTheZone() {
    assertEquals("Europe/Berlin", ZoneSetting.zone("SET TIME ZONE 'Europe/Berlin';"));
    assertEquals("", ZoneSetting.zone("set time zone local"));
    assertEquals("UTC", ZoneSetting.zone("set timezone=UTC"));
  }

  @Test
  void shouldReadAddresses() {
    assertEquals(new ServerAddress("db", 5432), ServerAddress.parse(" db "));
    assertEquals(new ServerAddress("db", 5433), ServerAddress.parse("db:5433"));
    assertEquals(new ServerAddress("::1", 5433), ServerAddress.parse("[::1]:5433"));
    assertEquals("[::1]:5432", ServerAddress.parse("[::1]").toString());
    assertThrows(IllegalArgumentException.class, () -> ServerAddress.parse("db:0"));
    assertThrows(IllegalArgumentException.class, () -> ServerAddress.parse(":5432"));
  }
}
