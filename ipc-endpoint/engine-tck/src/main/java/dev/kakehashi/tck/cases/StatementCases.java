package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.RETURNING;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Statement.Column;
import dev.kakehashi.engine.api.Statement.Kind;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Prepared statements: what they say of themselves, and what becomes of them when the catalogue changes.
public interface StatementCases extends Conformance {
  @Test
  default void shouldTellKindAndColumns() {
    String table = table("id int8 primary key, t varchar(7), n numeric(6,3), d date");
    Statement query = client().prepare("select id, t, n as amount, d, 1, 'x' from " + table);
    assertEquals(Kind.QUERY, query.kind());
    assertEquals(
        List.of(
            new Column("id", TypeOid.INT8, -1),
            new Column("t", TypeOid.VARCHAR, 11),
            new Column("amount", TypeOid.NUMERIC, (6 << 16 | 3) + 4),
            new Column("d", TypeOid.DATE, -1),
            new Column("?column?", TypeOid.INT4, -1),
            new Column("?column?", TypeOid.TEXT, -1)),
        query.columns());
    Statement change = client().prepare("update " + table + " set t = 'a'");
    assertEquals(Kind.DML, change.kind());
    assertEquals(List.of(), change.columns());
    assertEquals(Kind.DDL, client().prepare("create table " + freshName() + " (id int8)").kind());
  }

  @Test
  @NeedsCapability(RETURNING)
  default void shouldTellTheColumnsOfReturning() {
    String table = table("id int8 primary key, v int4");
    Statement insert = client().prepare("insert into " + table + " values (1, 2) returning v, id");
    assertEquals(Kind.DML, insert.kind());
    assertEquals(
        List.of(new Column("v", TypeOid.INT4, -1), new Column("id", TypeOid.INT8, -1)),
        insert.columns());
    assertEquals(
        List.of("2|1"), client().query("insert into " + table + " values (1, 2) returning v, id"));
    assertEquals(List.of("3"), client().query("update " + table + " set v = v + 1 returning v"));
    assertEquals(List.of("1|3"), client().query("delete from " + table + " returning *"));
  }

  @Test
  default void shouldInferTheTypesOfParameters() {
    String table = table("id int8 primary key, t varchar(7), n numeric, a int4[]");
    assertArrayEquals(
        new int[] {TypeOid.INT8, TypeOid.VARCHAR, TypeOid.NUMERIC, TypeOid.arrayOf(TypeOid.INT4)},
        client().prepare("insert into " + table + " values ($1, $2, $3, $4)").parameterTypeOids());
    assertArrayEquals(
        new int[] {TypeOid.INT8, TypeOid.TEXT},
        client()
            .prepare("select n from " + table + " where id = $1 and $2::text is null")
            .parameterTypeOids());
    assertArrayEquals(
        new int[] {TypeOid.INT4, TypeOid.TIMESTAMP},
        client().prepare("select 1 + $1, $2::timestamp").parameterTypeOids());
    assertArrayEquals(
        new int[] {TypeOid.INT2, TypeOid.FLOAT8},
        client().prepare("select $1, $2", TypeOid.INT2, TypeOid.FLOAT8).parameterTypeOids());
  }

  @Test
  default void shouldRunWithParametersOfEachExecution() {
    String table = table("id int8 primary key, v text");
    Statement insert = client().prepare("insert into " + table + " values ($1, $2)");
    Statement query =
        client().prepare("select v from " + table + " where id = $1 or $1 is null order by id");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      for (int id = 0; id < 5; id++) {
        transaction
            .startBatch(insert, ExecuteOptions.DEFAULT, new @Nullable Object[][] {{id, "v" + id}})
            .await();
      }
      assertEquals(List.of("v3"), transaction.start(query, ExecuteOptions.DEFAULT, 3).awaitRows());
      assertEquals(
          5, transaction.start(query, ExecuteOptions.DEFAULT, (Object) null).awaitRows().size());
      transaction.commit();
    }
  }

  @Test
  default void shouldFollowChangesOfTheCatalogue() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 10), (2, 20)");
    Statement query = client().prepare("select v from " + table + " where v > $1 order by v");
    client().run("create index on " + table + " (v)");
    assertEquals(List.of("20"), rows(query, 10));
    client().run("alter table " + table + " add column w int8 default 7");
    assertEquals(List.of("10", "20"), rows(query, 0));
    client().run("drop table " + table);
    refused("42P01", () -> rows(query, 0));
    client().run("create table " + table + " (id int8, v int8)");
    client().run("insert into " + table + " values (1, 5)");
    assertEquals(List.of("5"), rows(query, 0));
  }

  private List<String> rows(Statement query, @Nullable Object... parameters) {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      return transaction.start(query, new ExecuteOptions(true, 0, 0, 0), parameters).awaitRows();
    }
  }

  @Test
  default void shouldRefuseToReturnOtherColumnsThanItSaid() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 10)");
    Statement query = client().prepare("select * from " + table);
    assertEquals(List.of("1|10"), rows(query));
    client().run("alter table " + table + " add column w int8");
    assertEquals(Statement.OTHER_COLUMNS, refused("0A000", () -> rows(query)).getMessage());
    assertEquals(List.of("1|10|NULL"), client().query("select * from " + table));
  }

  @Test
  default void shouldUseOneStatementInSeveralSessions() {
    String table = table("id int8 primary key");
    client().run("insert into " + table + " values (1)");
    Statement query = client().prepare("select id from " + table);
    try (DrivenTransaction transaction = another().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          List.of("1"), transaction.start(query, new ExecuteOptions(true, 0, 0, 0)).awaitRows());
    }
  }

  @Test
  default void shouldAnswerACancelOfPlanning() {
    java.util.concurrent.CompletableFuture<String> answer =
        new java.util.concurrent.CompletableFuture<>();
    client()
        .session()
        .prepare(
            "select 1",
            new int[0],
            (statement, failure) ->
                answer.complete(failure == null ? "planned" : failure.sqlstate()))
        .cancel();
    String how = dev.kakehashi.tck.drive.Waits.await(answer);
    assertEquals(true, how.equals("planned") || how.equals("57014"), how);
    assertEquals(List.of("1"), client().query("select 1"));
  }

  @Test
  default void shouldTakeLongStatements() {
    StringBuilder sql = new StringBuilder("select 0");
    for (int i = 1; i < 500; i++) {
      sql.append(" + ").append(i);
    }
    assertEquals(List.of("124750"), client().query(sql.toString()));
    StringBuilder values = new StringBuilder("select count(*) from (values (0)");
    for (int i = 1; i < 3000; i++) {
      values.append(", (").append(i).append(')');
    }
    assertEquals(List.of("3000"), client().query(values + ") q (a)"));
  }
}
