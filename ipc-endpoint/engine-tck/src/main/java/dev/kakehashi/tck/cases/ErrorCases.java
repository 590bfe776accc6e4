package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Errors: SQLSTATEs, and the fields that say what was wrong. Messages are the engine's own.
public interface ErrorCases extends Conformance {
  private EngineException fails(String sqlstate, String sql) {
    return refused(sqlstate, () -> client().query(sql));
  }

  @Test
  default void shouldRefuseWhatIsNoStatement() {
    assertEquals(1, fails("42601", "selec 1").position());
    fails("42601", "select 1 +");
    fails("42601", "select 1; select 2");
    assertTrue(fails("42601", "select 'abc").position() > 0);
  }

  @Test
  default void shouldNameWhatDoesNotExist() {
    String table = table("id int8 primary key");
    fails("42P01", "select 1 from " + freshName());
    assertEquals(8, fails("42703", "select nothing from " + table).position());
    fails("42703", "update " + table + " set nothing = 1");
    fails("42883", "select no_such_function(1)");
    fails("42883", "select 1 + true");
    fails("42704", "select 1::no_such_type");
    fails("3F000", "create table no_such_schema.t (id int8)");
    fails("42P01", "drop table " + freshName());
  }

  @Test
  default void shouldRefuseWhatExists() {
    String table = table("id int8 primary key");
    fails("42P07", "create table " + table + " (id int8)");
    fails("42701", "create table " + freshName() + " (id int8, id int8)");
    fails("42701", "alter table " + table + " add column id int8");
    assertEquals(0, client().run("create table if not exists " + table + " (id int8)"));
  }

  @Test
  default void shouldRefuseWhatIsNotClear() {
    String table = table("id int8 primary key, v int8");
    fails("42702", "select id from " + table + " a, " + table + " b");
    fails("42803", "select id, count(*) from " + table + " group by v");
    fails("42804", "select case when 1 then 2 end");
    fails("42712", "select 1 from " + table + ", " + table);
    fails("42P10", "select 1 order by 2");
  }

  @Test
  default void shouldNameTheColumnThatMayNotBeNull() {
    String table = table("id int8 primary key, v int8 not null");
    EngineException failure = fails("23502", "insert into " + table + " values (1, null)");
    assertEquals(table, failure.tableName());
    assertEquals("v", failure.columnName());
  }

  @Test
  default void shouldNameTheUniqueKey() {
    String name = freshName();
    String table = table("id int8 primary key, v int8, constraint " + name + " unique (v)");
    client().run("insert into " + table + " values (1, 1), (2, null), (3, null)");
    EngineException failure = fails("23505", "insert into " + table + " values (4, 1)");
    assertEquals(name, failure.constraintName());
    assertEquals(table, failure.tableName());
    assertEquals(
        table + "_pkey",
        fails("23505", "insert into " + table + " values (1, 5)").constraintName());
    fails("23505", "update " + table + " set v = 7");
    assertEquals(List.of("3"), client().query("select count(*) from " + table));
  }

  @Test
  default void shouldNameTheCheck() {
    String name = freshName();
    String table = table("id int8 primary key, v int8, constraint " + name + " check (v > 0)");
    assertEquals(name, fails("23514", "insert into " + table + " values (1, 0)").constraintName());
    client().run("insert into " + table + " values (1, null), (2, 1)");
    fails("23514", "update " + table + " set v = v - 1");
  }

  @Test
  default void shouldNameTheForeignKey() {
    String parent = table("id int8 primary key");
    String name = freshName();
    String child =
        table(
            "id int8 primary key, p int8, constraint "
                + name
                + " foreign key (p) references "
                + parent);
    client().run("insert into " + parent + " values (1)");
    client().run("insert into " + child + " values (1, 1), (2, null)");
    assertEquals(name, fails("23503", "insert into " + child + " values (3, 2)").constraintName());
    fails("23503", "delete from " + parent);
    fails("2BP01", "drop table " + parent);
  }

  @Test
  default void shouldRefuseWhatCannotBeComputed() {
    fails("22012", "select 1 / 0");
    fails("22012", "select 1.0 / 0");
    fails("22012", "select 1 % 0");
    fails("21000", "select (select a from generate_series(1, 2) a)");
    fails("2201E", "select ln(0.0)");
    fails("22023", "select generate_series(1, 2, 0)");
    fails("2201W", "select 1 limit -1");
    fails("2201B", "select 'a' ~ '('");
    assertEquals(
        List.of("0"),
        client().query("select case when a = 0 then 0 else 1 / a end from (values (0)) q (a)"));
  }

  @Test
  default void shouldRefuseParametersThatAreNotThere() {
    refused("42P02", () -> client().prepare("select $0"));
  }
}
