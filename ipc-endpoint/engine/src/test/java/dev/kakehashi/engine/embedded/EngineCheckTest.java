package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.CatalogTool;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.check.CheckListener;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Answers of the check about sequences, views and comments: a sound catalogue passes, each kind of damage is named.
final class EngineCheckTest implements CheckListener {
  private static final long MEMORY_BYTES = 1L << 28;

  private final List<String> problems = new ArrayList<>();
  private final List<String> checked = new ArrayList<>();

  @TempDir Path directory;

  @BeforeEach
  void fill() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id int generated always as identity primary key, a int)");
      engine.run("create sequence s maxvalue 1000");
      engine.run("create view v as select id, a from t where a > 0");
      engine.run("comment on column v.a is 'positive'");
      engine.run("insert into t (a) values (1), (nextval('s'))");
      engine.run("alter table t add column gone int default 1, add column b text default 'x'");
      engine.run("insert into t (a) values (2)");
      engine.run("alter table t drop column gone");
    }
  }

  @Override
  public void checked(String what) {
    checked.add(what);
  }

  @Override
  public void problem(String what) {
    problems.add(what);
  }

  private void check() {
    EngineCheck.run(new StoreConfig(directory, MEMORY_BYTES), this);
  }

  private void damage(Consumer<Store> how) {
    try (Store store = StoreFactory.open(new StoreConfig(directory, MEMORY_BYTES))) {
      how.accept(store);
    }
    check();
  }

  private static String key(Store store, String kind, int position) {
    return store.catalog().keySet().stream()
        .filter(key -> key.startsWith(kind))
        .toList()
        .get(position);
  }

  private void assertProblem(String... parts) {
    assertTrue(
        problems.stream().anyMatch(problem -> List.of(parts).stream().allMatch(problem::contains)),
        problems.toString());
  }

  @Test
  void shouldPassASoundCatalogue() {
    check();
    assertEquals(List.of(), problems);
    assertTrue(
        checked.stream().anyMatch(each -> each.contains("1 tables, 2 sequences, 1 views")),
        checked.toString());
  }

  @Test
  void shouldMissTheSequenceOfAColumn() {
    damage(store ->
        CatalogTool.change(store, List.of(new CatalogChange.Remove(key(store, "sequence/", 0)))));
    assertProblem("\"t\"", "column \"id\" has a sequence that does not exist");
  }

  @Test
  void shouldFindAPositionOutOfBounds() {
    damage(store -> {
      String key = key(store, "sequence/", 1);
      long state = Long.parseLong(key.substring(key.indexOf('/') + 1));
      store.putSequencePosition(state, new SequencePosition(1001, true));
    });
    assertProblem("sequence \"public\".\"s\"", "1001 is not between 1 and 1000");
  }

  @Test
  void shouldFindAViewWithoutItsTable() {
    damage(store -> {
      String key = key(store, "table/", 0);
      long table = Long.parseLong(key.substring(key.indexOf('/') + 1));
      CatalogTool.change(
          store, List.of(new CatalogChange.Remove(key), new CatalogChange.DropTable(table)));
    });
    assertProblem("view \"public\".\"v\" cannot be read", "\"t\" does not exist");
  }

  @Test
  void shouldFindAnEntryThatCannotBeRead() {
    damage(store ->
        CatalogTool.change(
            store, List.of(new CatalogChange.Put(key(store, "view/", 0), new byte[] {1, 0}))));
    assertProblem("catalogue entry \"view/");
  }

  @Test
  void shouldFindARelationOutsideOfEverySchema() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create schema z");
      engine.run("create sequence z.s");
    }
    damage(store -> CatalogTool.change(store, List.of(new CatalogChange.Remove("schema/z"))));
    assertProblem("relation \"z\".\"s\" is in a schema that does not exist");
  }

  @Test
  void shouldFindRowsThatNoStatementCouldHaveMade() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run(
          "create table r (k int unique deferrable, a int check (a > 0),"
              + " twice int generated always as (a * 2) stored)");
      engine.run("insert into r values (1, 1), (null, 2), (null, null)");
    }
    check();
    assertEquals(List.of(), problems);
    damage(store -> {
      // The younger of the two tables.
      long table =
          store.catalog().keySet().stream()
              .filter(key -> key.startsWith("table/"))
              .mapToLong(key -> Long.parseLong(key.substring(key.indexOf('/') + 1)))
              .max()
              .getAsLong();
      CatalogTool.insert(store, table, 1L, 5L, 10L);
      CatalogTool.insert(store, table, 2L, -1L, -2L);
      CatalogTool.insert(store, table, 3L, 6L, 13L);
    });
    assertProblem("\"r\"", "index \"r_k_key\"", "have the same key");
    assertProblem("\"r\"", "check constraint \"r_a_check\": 1 rows violate it");
    assertProblem("\"r\"", "generated column \"twice\": 1 rows violate it");
    assertEquals(3, problems.size(), problems.toString());
  }
}
