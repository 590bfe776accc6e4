package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.DDL_IN_TRANSACTION;
import static dev.kakehashi.protocol.capability.Capability.DEFERRABLE_CONSTRAINTS;
import static dev.kakehashi.protocol.capability.Capability.ON_CONFLICT;
import static dev.kakehashi.protocol.capability.Capability.STATISTICS;
import static dev.kakehashi.protocol.capability.Capability.TRUNCATE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Questions of foreign tables and clients to the catalogue: definitions, constraints, statistics.
public interface CatalogueCases extends Conformance {
  @Test
  default void shouldShowTablesAndColumns() {
    String table =
        table(
            "b int8 not null, a varchar(7), n numeric(6,3) default 1.5, c int4[], primary key (b, a)");
    assertEquals(
        List.of("1"),
        client()
            .query("select count(*) from kakehashi_catalog.tables where table_name = $1", table));
    assertEquals(
        List.of("b|1|20|-1|t|1", "a|2|1043|11|t|2", "n|3|1700|393223|f|NULL", "c|4|1007|-1|f|NULL"),
        client()
            .query(
                "select column_name, ordinal_position, type_oid, type_modifier, not_null, nullif(key_position, 0)"
                    + " from kakehashi_catalog.columns where table_name = $1 order by ordinal_position",
                table));
    String column =
        "select column_default from kakehashi_catalog.columns where table_name = $1 and column_name = 'n'";
    assertEquals(List.of("1.5"), client().query(column, table));
  }

  @Test
  default void shouldShowIndexes() {
    String table = table("id int8 primary key, v int8, w int8");
    client().run("create index on " + table + " (w desc, v)");
    client().run("create unique index on " + table + " (v) where w > 0");
    assertEquals(
        List.of("id|1|t|t|f|f", "v|1|t|f|f|t", "v|2|f|f|f|f", "w|1|f|f|t|f"),
        client()
            .query(
                "select column_name, key_position, is_unique, is_primary, is_descending, is_partial"
                    + " from kakehashi_catalog.indexes where table_name = $1 order by 1, 2, 3 desc",
                table));
  }

  @Test
  @NeedsCapability(STATISTICS)
  default void shouldKnowRowsAndValuesAfterAnalyze() {
    String table = table("id int8 primary key, v int8, t text");
    client()
        .run(
            "insert into "
                + table
                + " select i, case when i % 4 = 0 then null else i % 10 end, 'abc'"
                + " from generate_series(1, 4000) i");
    client().run("analyze " + table);
    double rows =
        Double.parseDouble(
            client()
                .query(
                    "select row_count from kakehashi_catalog.tables where table_name = $1", table)
                .getFirst());
    assertTrue(Math.abs(rows - 4000) < 400, "rows " + rows);
    List<String> statistics =
        client()
            .query(
                "select null_fraction::float8, n_distinct::float8, most_common_values is not null from kakehashi_catalog.column_statistics"
                    + " where table_name = $1 and column_name = 'v'",
                table);
    assertEquals(1, statistics.size());
    String[] values = statistics.getFirst().split("\\|", -1);
    assertEquals(0.25, Double.parseDouble(values[0]), 0.05);
    assertEquals(10, Double.parseDouble(values[1]), 1);
    assertEquals("t", values[2]);
  }

  @Test
  @NeedsCapability(DDL_IN_TRANSACTION)
  default void shouldShowDefinitionsToOthersAfterTheCommit() {
    String table = freshName();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("create table " + table + " (id int8 primary key)");
      refused("42P01", () -> another().query("select 1 from " + table));
      transaction.commit();
    }
    assertEquals(List.of("0"), another().query("select count(*) from " + table));
  }

  @Test
  @NeedsCapability(DDL_IN_TRANSACTION)
  default void shouldTakeDefinitionsBack() {
    String table = table("id int8 primary key");
    String other = freshName();
    client().run("insert into " + table + " values (1)");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("create table " + other + " (id int8)");
      transaction.run("alter table " + table + " add column v int8");
      transaction.run("drop table " + table);
      transaction.rollback();
    }
    assertEquals(List.of("1"), client().query("select * from " + table));
    refused("42P01", () -> client().query("select 1 from " + other));
  }

  @Test
  default void shouldChangeTablesWithRows() {
    String table = table("id int8 primary key, v int4");
    client().run("insert into " + table + " values (1, 10), (2, null)");
    client()
        .runAll(
            "alter table " + table + " add column w text default 'new'",
            "alter table " + table + " alter column v set default 5",
            "insert into " + table + " (id) values (3)",
            "alter table " + table + " rename column v to amount");
    assertEquals(
        List.of("1|10|new", "2|NULL|new", "3|5|new"),
        client().query("select id, amount, w from " + table + " order by id"));
    refused(
        "23502", () -> client().run("alter table " + table + " alter column amount set not null"));
    client().run("alter table " + table + " drop column w");
    assertEquals(List.of("2"), client().query("select count(amount) from " + table));
  }

  @Test
  @NeedsCapability(TRUNCATE)
  default void shouldTruncateWithinATransaction() {
    String table = table("id int8 primary key");
    client().run("insert into " + table + " values (1), (2)");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("truncate " + table);
      transaction.run("insert into " + table + " values (1)");
      assertEquals(List.of("1"), transaction.query("select id from " + table));
      transaction.rollback();
    }
    assertEquals(List.of("2"), client().query("select count(*) from " + table));
    client().run("truncate " + table);
    assertEquals(List.of("0"), client().query("select count(*) from " + table));
  }

  @Test
  default void shouldRefuseAUniqueIndexOverDuplicates() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 1), (2, 1)");
    refused("23505", () -> client().run("create unique index on " + table + " (v)"));
    assertEquals(
        List.of("1"),
        client()
            .query("select count(*) from kakehashi_catalog.indexes where table_name = $1", table));
  }

  @Test
  default void shouldCountSequencesWithoutTakingThemBack() {
    String sequence = freshName();
    client().run("create sequence " + sequence);
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(List.of("1"), transaction.query("select nextval('" + sequence + "')"));
      transaction.rollback();
    }
    assertEquals(List.of("2"), client().query("select nextval('" + sequence + "')"));
  }

  @Test
  @NeedsCapability(DEFERRABLE_CONSTRAINTS)
  default void shouldLookAtDeferredConstraintsAtTheCommit() {
    String parent = table("id int8 primary key");
    String child =
        table(
            "id int8 primary key, p int8 references " + parent + " deferrable initially deferred");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into " + child + " values (1, 7)");
      transaction.run("insert into " + parent + " values (7)");
      transaction.commit();
    }
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into " + child + " values (2, 8)");
      EngineException failure = refused("23503", transaction::commit);
      assertEquals(child, failure.tableName());
    }
    assertEquals(List.of("1"), client().query("select id from " + child));
  }

  @Test
  @NeedsCapability(ON_CONFLICT)
  default void shouldInsertOrUpdate() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 10)");
    assertEquals(
        0, client().run("insert into " + table + " values (1, 11) on conflict do nothing"));
    assertEquals(
        2,
        client()
            .run(
                "insert into "
                    + table
                    + " as t values (1, 5), (2, 20) on conflict (id) do update set v = t.v + excluded.v"));
    assertEquals(
        List.of("1|15", "2|20"), client().query("select * from " + table + " order by id"));
    refused(
        "42P10",
        () -> client().run("insert into " + table + " values (1, 1) on conflict (v) do nothing"));
  }
}
