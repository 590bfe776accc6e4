package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which statements say where their row is in the store's memory, and how long that holds.
final class DirectReadsTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run(
        "create table t (id int8 primary key, a int4, b text not null, n numeric(10,2), u uuid, c date, d timestamp, unique (b, a))");
    engine.run("create index on t (c, n)");
    engine.run("create index on t (d desc, u)");
    engine.run("create unique index on t (u) where a > 5");
    engine.run("create index on t (a)");
    engine.run("create index on t (n)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private @Nullable DirectRead read(String sql) {
    return engine.prepare(sql).directRead();
  }

  private DirectRead found(String sql) {
    return Objects.requireNonNull(read(sql), sql);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select * from t where id = 5",
        "select id from t where u = $1::uuid",
        "select id from t where b = $1 and a = $2 and id = $3",
        "select id from t where id = $1 and a > 5",
        "select id from t where id = $1 or id = $2",
        "select id from t where id = $1 + 1",
        "select id from t where id = $1::numeric",
        "select id + 1 from t where id = $1",
        "select id from t where id = $1 for update",
        "select id from t where id = $1 limit 1",
        "select id from t where id > $1 limit 1",
        "select id from t where id > $1 and id > $2",
        "select id from t where id > $1 and a = $2",
        "select id from t where b > $1 and a = $2",
        "select id from t where id <> $1",
        "select id from t where id > $1 order by a",
        "select id from t where a > $1 order by a, id",
        "select id from t where b = $1 order by a nulls first",
        "select id from t where n > $1",
        "select id from t where c > $1",
        "select id from t where id between $1 and $2 order by id limit 5",
        "select count(*) from t where id = $1",
        "select t.id from t join t s on t.id = s.id where t.id = $1",
        "select id from t",
        "update t set a = 1 where id = $1",
      })
  void shouldLeaveStatementsToRequests(String sql) {
    assertNull(read(sql), sql);
  }

  /// A number is a varlena wherever it lies; a parameter is how a client finds out which of its keys a row is for.
  @Test
  void shouldGiveNumbersAndParameters() {
    DirectRead read = found("select $1::int4, n from t where id = $2");
    assertEquals(
        List.of(DirectRead.Kind.PARAMETER, DirectRead.Kind.VARLENA),
        read.columns().stream().map(DirectRead.Column::kind).toList());
    assertEquals(0, read.columns().getFirst().column());
    assertEquals(1, read.keys().getFirst().parameter());
    assertNull(read("select $1::text, n from t where id = $2"));
  }

  @Test
  void shouldSayWhereKeyAndColumnsAre() {
    DirectRead read = found("select b, u, id from t where id = $1");
    DirectRead.Key key = read.keys().getFirst();
    assertEquals(1, read.keys().size());
    assertEquals(0, key.parameter());
    assertEquals(0, key.column());
    assertEquals(DirectRead.Kind.WORD, key.kind());
    assertEquals(
        List.of(DirectRead.Kind.VARLENA, DirectRead.Kind.FIXED16, DirectRead.Kind.WORD),
        read.columns().stream().map(DirectRead.Column::kind).toList());
    assertNotEquals(0, read.columns().getFirst().dictionaryCell());
    DirectRead pair = found("select id from t where a = $2 and b = $1");
    assertEquals(List.of(0, 1), pair.keys().stream().map(DirectRead.Key::parameter).toList());
    assertEquals(
        List.of(false, true), pair.keys().stream().map(DirectRead.Key::isNullable).toList());
  }

  private static List<DirectRead.Use> uses(DirectRead read) {
    return read.keys().stream().map(DirectRead.Key::use).toList();
  }

  /// The bounds of one column behind those that equal something, and the rest of the key, by which a client tells entries of a row apart.
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "id > $1; LOWER_EXCLUSIVE",
        "$2 >= id and id >= $1; LOWER,UPPER",
        "id < $1; UPPER_EXCLUSIVE",
        "a = $1; EQUAL",
        "b = $1; EQUAL,UNBOUND",
        "b = $1 and a between $2 and $3; EQUAL,LOWER,UPPER",
        "a > $3 and b = $1 and a <= $2; EQUAL,LOWER_EXCLUSIVE,UPPER",
        "b between $1 and $2; LOWER,UPPER,UNBOUND",
        "d = $1 and u > $2; EQUAL,LOWER_EXCLUSIVE",
        "d >= $1; LOWER,UNBOUND",
      })
  void shouldSayWhereARangeIs(String condition, String uses) {
    List<DirectRead.Use> expected =
        Arrays.stream(uses.split(",")).map(DirectRead.Use::valueOf).toList();
    DirectRead ofSmall = found("select * from t where " + condition);
    assertEquals(expected, uses(ofSmall));
    assertEquals(DirectRead.Order.FORWARD, ofSmall.order());
    engine.run(
        "insert into t select i, i, 'b' || i, i, null, date '2026-01-01' + i % 300, timestamp '2026-01-01' + i * interval '1 hour' from generate_series(1, 20000) i");
    assertEquals(ofSmall.keys(), found("select * from t where " + condition).keys());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "id > $1 order by id; FORWARD",
        "id > $1 order by id desc; REVERSE",
        "b = $1 order by a; FORWARD",
        "b = $1 and a > $2 order by a desc nulls last; REVERSE",
        "b > $1 order by b desc, a desc; REVERSE",
        "d > $1 order by d; REVERSE",
        "d > $1 order by d desc; FORWARD",
      })
  void shouldKeepTheOrder(String rest, DirectRead.Order order) {
    assertEquals(order, found("select b, id from t where " + rest).order());
    engine.run("insert into t select i, i, 'b' || i from generate_series(1, 20000) i");
    assertEquals(order, found("select b, id from t where " + rest).order());
  }

  @Test
  void shouldNotTakeOneRowForARange() {
    assertNull(found("select id from t where id = $1 order by b").order());
    assertEquals(List.of(DirectRead.Use.EQUAL), uses(found("select id from t where id = $1")));
  }

  /// The engine itself scans a small table, and uses the index of a large one.
  @Test
  void shouldNotDependOnTheSizeOfTheTable() {
    engine.run("insert into t select i, i, 'b' || i from generate_series(1, 20000) i");
    assertEquals(
        found("select id from t where id = $1").keys(),
        found("select id, b from t where id = $1").keys());
  }

  /// Without rows another table would take its place.
  private void fill() {
    engine.run("insert into t select i, i, 'b' || i from generate_series(1, 100) i");
  }

  @Test
  void shouldHoldUntilTheDefinitionChanges() {
    fill();
    DirectRead before = found("select id from t where id = $1");
    assertEquals(before, read("select id from t where id = $1"));
    engine.run("alter table t add column late int4");
    DirectRead after = found("select id from t where id = $1");
    assertNotEquals(before.definitions(), after.definitions());
    assertNotEquals(before.tableGeneration(), after.tableGeneration());
    engine.run("create role clerk");
    assertNotEquals(after.definitions(), found("select id from t where id = $1").definitions());
  }

  /// Others may drop a table or an index between the plan and the question.
  @Test
  void shouldSayNothingOfWhatHasBeenDroppedSince() {
    fill();
    engine.run("create unique index last on t (u)");
    Statement byIndex = engine.prepare("select id from t where u = $1");
    assertNotNull(byIndex.directRead());
    engine.run("drop index last");
    assertNull(byIndex.directRead());
    Statement ofTable = engine.prepare("select id from t where id = $1");
    engine.run("drop table t");
    assertNull(ofTable.directRead());
  }

  /// Rows of a table whose form is being changed lie nobody knows where.
  @Test
  void shouldSayNothingWhileATransactionChangesTheForm() {
    fill();
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.run(transaction, "alter table t add column late int4");
    assertNull(read("select id from t where id = $1"));
    engine.rollback(transaction);
    assertNotNull(read("select id from t where id = $1"));
  }
}
