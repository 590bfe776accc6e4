package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Comments are kept, and go where what they are about goes.
final class CommentTest {
  private static final String ALL =
      "select object_type, object_schema, object_name, column_name, comment"
          + " from kakehashi_catalog.comments order by 1, 2, 3, 4";

  @TempDir Path directory;

  @Test
  void shouldShowWhatWasSaidAboutEachKindOfObject() {
    List<String> expected =
        List.of(
            "column|public|t|a|a 'column'",
            "column|public|v|a|of a view",
            "index|public|t_a|NULL|an index",
            "schema|z|z|NULL|a schema",
            "sequence|public|s|NULL|a sequence",
            "table|public|t|NULL|a table",
            "view|public|v|NULL|a view");
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int primary key, a int)");
      engine.run("create index t_a on t (a)");
      engine.run("create view v as select a from t");
      engine.run("create sequence s");
      engine.run("create schema z");
      engine.run("comment on table t is 'a table'");
      engine.run("comment on column t.a is 'a ''column'''");
      engine.run("comment on index t_a is 'an index'");
      engine.run("comment on view v is 'a view'");
      engine.run("comment on column v.a is 'of a view'");
      engine.run("comment on sequence s is 'a sequence'");
      engine.run("comment on schema z is 'a schema'");
      assertEquals(expected, engine.query(ALL));
    }
    try (TestEngine engine = new TestEngine(directory)) {
      assertEquals(expected, engine.query(ALL));
    }
  }

  @Test
  void shouldFollowItsObject() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int primary key, a int, b int)");
      engine.run("comment on table t is 'table'");
      engine.run("comment on column t.b is 'column'");
      engine.run("comment on index t_pkey is 'key'");
      engine.run("truncate t");
      engine.run("alter table t drop column a");
      engine.run("alter table t alter column b type text using b::text");
      engine.run("alter table t rename to u");
      engine.run("alter table u rename column b to c");
      engine.run("alter index t_pkey rename to u_pkey");
      engine.run("create view v as select c from u");
      engine.run("comment on view v is 'view'");
      engine.run("create or replace view v as select c, id from u");
      assertEquals(
          List.of(
              "column|public|u|c|column",
              "index|public|u_pkey|NULL|key",
              "table|public|u|NULL|table",
              "view|public|v|NULL|view"),
          engine.query(ALL));
      engine.run("drop table u cascade");
      assertEquals(List.of(), engine.query(ALL));
    }
  }

  @Test
  void shouldBePartOfTheTransactionAndGoAway() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int)");
      engine.run("comment on table t is 'first'");
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      engine.run(transaction, "comment on table t is 'second'");
      assertEquals(List.of("table|public|t|NULL|second"), engine.run(transaction, ALL).rows());
      assertEquals(List.of("table|public|t|NULL|first"), engine.query(ALL));
      engine.rollback(transaction);
      assertEquals(List.of("table|public|t|NULL|first"), engine.query(ALL));
      engine.run("comment on table t is null");
      assertEquals(List.of(), engine.query(ALL));
    }
  }
}
