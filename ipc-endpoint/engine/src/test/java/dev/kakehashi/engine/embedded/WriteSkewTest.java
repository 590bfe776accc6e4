package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Serializable transactions that have found nothing depend on it: each pair below reads what the other one writes, and only one of the two
/// may commit.
final class WriteSkewTest {
  private static final String CHANGE = "insert into shift values (1, 7, 'open')";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table doctor (id int primary key, on_call bool not null)");
    engine.run("create table shift (id int primary key, grp int, note text)");
    engine.run("create index on shift (grp)");
    engine.run("create index shift_open on shift (grp) where note = 'open'");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /// @param reset makes the tables of the look what they are before
  /// @param look finds nothing
  /// @param change makes a row that it would have found
  private void assertOneOfTwoIsRefused(String reset, String look, String change) {
    for (boolean lookerFirst : List.of(true, false)) {
      engine.run(reset);
      engine.run("truncate doctor");
      engine.run("insert into doctor values (1, true), (2, true)");
      EngineTransaction looker = engine.begin(Isolation.SERIALIZABLE);
      EngineTransaction changer = engine.begin(Isolation.SERIALIZABLE);
      for (String statement : look.split(";", -1)) {
        run(looker, statement);
      }
      engine.run(changer, "select count(*) from doctor");
      engine.run(looker, "delete from doctor where id = 1");
      engine.run(changer, change);
      @Nullable String first = commit(lookerFirst ? looker : changer);
      @Nullable String second = commit(lookerFirst ? changer : looker);
      assertEquals(null, first, look);
      assertEquals("40001", second, look);
    }
  }

  /// A statement that fails has looked, too.
  private void run(EngineTransaction transaction, String sql) {
    try {
      engine.run(transaction, sql);
    } catch (EngineException found) {
      assertEquals("23503", found.code().sqlstate(), found.getMessage());
    }
  }

  private @Nullable String commit(EngineTransaction transaction) {
    try {
      engine.commit(transaction);
      return null;
    } catch (EngineException refused) {
      return refused.code().sqlstate();
    }
  }

  private void assertOneOfTwoIsRefused(String look) {
    assertOneOfTwoIsRefused("truncate shift", look, CHANGE);
  }

  /// Every way to look at the table that there is.
  private void assertAllLooksAreNoted() {
    assertOneOfTwoIsRefused("select count(*) from shift");
    assertOneOfTwoIsRefused("select * from shift order by note limit 1");
    assertOneOfTwoIsRefused("select max(id) from shift");
    assertOneOfTwoIsRefused("select * from shift where id = 1");
    assertOneOfTwoIsRefused("select * from shift where id = any (array[1, 2])");
    assertOneOfTwoIsRefused("select * from shift where id between 0 and 5");
    assertOneOfTwoIsRefused("select * from shift where grp = 7");
    assertOneOfTwoIsRefused("select * from shift for update");
    assertOneOfTwoIsRefused("select * from shift tablesample system (100)");
    assertOneOfTwoIsRefused("select * from doctor d join shift s on s.id = d.id");
    assertOneOfTwoIsRefused("select * from doctor d left join shift s on s.grp = d.id + 6");
    assertOneOfTwoIsRefused(
        "select * from doctor d where exists (select from shift where id = d.id)");
    assertOneOfTwoIsRefused("select * from doctor where id not in (select id from shift)");
    assertOneOfTwoIsRefused("select (select note from shift where id = d.id) from doctor d");
    assertOneOfTwoIsRefused(
        "select * from doctor d, lateral (select * from shift where grp > d.id limit 1) s");
    assertOneOfTwoIsRefused("select id from doctor except select id from shift");
    assertOneOfTwoIsRefused("with s as (select * from shift) select count(*) from s, s as t");
    assertOneOfTwoIsRefused(
        "with recursive r (id) as (select id from shift union select r.id + 1 from r where id < 3) select * from r");
    assertOneOfTwoIsRefused("update shift set note = 'x'");
    assertOneOfTwoIsRefused("delete from shift");
    assertOneOfTwoIsRefused("insert into doctor select id + 10, true from shift");
    assertOneOfTwoIsRefused(
        "merge into shift s using (values (1)) v (id) on s.id = v.id when matched then delete");
  }

  @Test
  void shouldNoteLooksAtTablesThatHaveNeverHadARow() {
    assertAllLooksAreNoted();
  }

  @Test
  void shouldNoteLooksAtEmptyRangesOfTablesWithRows() {
    engine.run("insert into shift select g, g, 'done' from generate_series(100, 400) g");
    engine.run("analyze");
    for (String look :
        List.of(
            "select * from shift where id = 1",
            "select * from shift where id between 0 and 5",
            "select * from shift where id < 50 order by id desc limit 1",
            "select * from shift where grp = 7",
            "select * from shift where grp < 50 and note = 'open'",
            "select * from shift where note = 'open'",
            "select count(*) from doctor d join shift s on s.id = d.id",
            "select count(*) from doctor d where not exists (select from shift s where s.grp = d.id + 6)")) {
      assertOneOfTwoIsRefused("delete from shift where id = 1", look, CHANGE);
    }
  }

  @Test
  void shouldNoteLooksAtTablesWhoseRowsWereDeleted() {
    engine.run("insert into shift select g, g, 'done' from generate_series(100, 400) g");
    for (String look :
        List.of(
            "select count(*) from shift",
            "select count(*) from shift where grp = 7",
            "select count(*) from shift where note = 'open'")) {
      assertOneOfTwoIsRefused("delete from shift", look, CHANGE);
    }
  }

  @Test
  void shouldNoteLooksAtWhatTheSameTransactionHasEmptied() {
    assertOneOfTwoIsRefused(
        "insert into shift values (5, 5, 'done') on conflict do nothing",
        "delete from shift where id = 5; select count(*) from shift",
        CHANGE);
  }

  @Test
  void shouldNoteKeysThatForeignKeysHaveNotFound() {
    engine.run("create table ward (id int primary key)");
    engine.run("create table bed (id int primary key, ward int references ward)");
    assertOneOfTwoIsRefused(
        "delete from ward", "insert into bed values (1, 9)", "insert into ward values (9)");
  }

  @Test
  void shouldNoteRowsThatDoNotReferenceAnything() {
    engine.run("create table ward (id int primary key, open bool)");
    engine.run("create table bed (id int primary key, ward int references ward)");
    for (boolean first : List.of(true, false)) {
      engine.run("insert into ward values (9, true)");
      EngineTransaction deletes = engine.begin(Isolation.SERIALIZABLE);
      EngineTransaction inserts = engine.begin(Isolation.SERIALIZABLE);
      engine.run(inserts, "select count(*) from ward");
      engine.run(deletes, "select count(*) from bed");
      engine.run(inserts, "insert into bed values (1, null)");
      engine.run(deletes, "delete from ward where id = 9");
      assertEquals(null, commit(first ? deletes : inserts));
      assertEquals("40001", commit(first ? inserts : deletes));
      engine.run("delete from bed");
      engine.run("delete from ward");
    }
  }
}
