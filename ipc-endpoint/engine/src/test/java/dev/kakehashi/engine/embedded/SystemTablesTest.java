package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// System tables that are asked about one schema or object.
class SystemTablesTest {
  private static final List<String> OBJECTS =
      List.of(
          "kakehashi_catalog.tables",
          "kakehashi_catalog.columns",
          "kakehashi_catalog.indexes",
          "kakehashi_catalog.check_constraints",
          "kakehashi_catalog.column_statistics",
          "kakehashi_catalog.views",
          "kakehashi_catalog.foreign_keys",
          "information_schema.tables",
          "information_schema.columns");

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void makeObjectsOfTheSameNamesInTwoSchemas() {
    engine = new TestEngine(directory);
    for (String schema : List.of("public", "other")) {
      if (schema.equals("other")) {
        engine.run("create schema other");
      }
      for (String table : List.of("t", "u")) {
        String name = schema + "." + table;
        engine.run(
            "create table "
                + name
                + " (id serial primary key, v int check (v > 0), p int references "
                + name
                + ")");
        engine.run("insert into " + name + " (v) values (1)");
        engine.run("comment on table " + name + " is 'a table'");
        engine.run("comment on index " + name + "_pkey is 'an index'");
      }
      engine.run("create view " + schema + ".w as select id from " + schema + ".t");
    }
    engine.run("analyze");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldGiveTheRowsOfANamedObjectAsAScanOfAllDoes() {
    for (String table : OBJECTS) {
      for (String schema : List.of("public", "other", "kakehashi_catalog", "none")) {
        for (String name : List.of("t", "w", "columns", "none")) {
          assertNarrowed(table, "table_schema", schema, "table_name", name);
        }
      }
    }
    assertNarrowed(
        "kakehashi_catalog.sequences", "sequence_schema", "other", "sequence_name", "t_id_seq");
    assertNarrowed("kakehashi_catalog.comments", "object_schema", "other", "object_name", "t_pkey");
    assertNarrowed("kakehashi_catalog.comments", "object_schema", "other", "object_name", "t");
  }

  private void assertNarrowed(
      String table, String schemaColumn, String schema, String nameColumn, String name) {
    String from = "select * from " + table + " where ";
    String itsSchema = schemaColumn + " = '" + schema + "'";
    String itsName = nameColumn + " = '" + name + "'";
    // The same values, of expressions that no scan is narrowed by.
    String anySchema = schemaColumn + " || '' = '" + schema + "'";
    String anyName = nameColumn + " || '' = '" + name + "'";
    assertEquals(sorted(from + anySchema), sorted(from + itsSchema));
    assertEquals(sorted(from + anyName), sorted(from + itsName));
    assertEquals(
        sorted(from + anySchema + " and " + anyName), sorted(from + itsSchema + " and " + itsName));
  }

  private List<String> sorted(String query) {
    return engine.query(query).stream().sorted().toList();
  }

  @Test
  void shouldMakeRowsOfWhatIsNamedOnly() {
    String plan =
        String.join(
            "\n",
            engine.query(
                "explain select column_name from kakehashi_catalog.columns where table_schema = 'public' and table_name = 't'"));
    assertTrue(plan.contains("Schema: 'public'") && plan.contains("Name: 't'"), plan);
  }

  @Test
  void shouldTakeNamesFromParametersAndOuterRows() {
    var statement =
        engine.prepare(
            "select column_name from kakehashi_catalog.columns where table_schema = $1 and table_name = $2 order by ordinal_position");
    var transaction = engine.begin(dev.kakehashi.engine.api.BeginOptions.Isolation.READ_COMMITTED);
    assertEquals(
        List.of("id", "v", "p"),
        engine.execute(transaction, statement, new Object[][] {{"other", "u"}}).rows());
    assertEquals(
        List.of("id"),
        engine.execute(transaction, statement, new Object[][] {{"other", "w"}}).rows());
    assertEquals(
        List.of(), engine.execute(transaction, statement, new Object[][] {{"other", null}}).rows());
    engine.commit(transaction);
    assertEquals(
        List.of("t|3", "u|3"),
        engine.query(
            "select t.table_name, (select count(*) from kakehashi_catalog.columns c where c.table_name = t.table_name and c.table_schema = t.table_schema"
                + " and c.ordinal_position < 10 + t.row_count) from kakehashi_catalog.tables t where t.table_schema = 'other' and t.row_count > 0 order by 1"));
  }

  @Test
  void shouldTellTheMemoryOfEachColumn() {
    engine.run(
        "create table m (gone text, id int8 primary key, price numeric(15,2), kind text, note text)");
    engine.run(
        "insert into m select 'left', g, g % 1000 * 1.25, 'of the kind ' || g % 7, 'a note of some bytes ' || g * 7919 from generate_series(1, 50000) g");
    engine.run("alter table m drop column gone, add column late text");
    engine.run("create index on m ((id + 1))");
    String of = " from kakehashi_catalog.column_memory where table_name = 'm'";
    // A number of four bytes, a price of four, a code of two, an address and the bytes of a text,
    // and nothing.
    assertEquals(
        List.of("id|t|t", "kind|t|t", "late|t|t", "note|t|t", "price|t|t"),
        engine.query(
            "select column_name, row_bytes between case column_name when 'late' then 0 when 'note' then 40 else 1 end"
                + " and case column_name when 'late' then 0 when 'kind' then 1.5 when 'note' then 48 else 4.5 end, total_bytes = page_bytes + value_bytes"
                + of
                + " order by 1"));
    assertEquals(
        List.of("t|t|t"),
        engine.query(
            "select sum(c.page_bytes) < min(m.page_bytes), sum(c.value_bytes) <= min(m.value_bytes), min(m.row_bytes) = round(min(m.total_bytes) / 5000.0) / 10"
                + " from kakehashi_catalog.table_memory m join kakehashi_catalog.column_memory c using (table_schema, table_name) where table_name = 'm'"));
    engine.run("truncate m");
    assertEquals(List.of("5"), engine.query("select count(*)" + of + " and row_bytes is null"));
  }
}
