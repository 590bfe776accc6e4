package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// EXPLAIN and SHOW.
final class ExplainTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table item (id int primary key, kind int, note text)");
    StringBuilder rows = new StringBuilder("insert into item values (0, 0, 'n')");
    for (int i = 1; i < 500; i++) {
      rows.append(", (").append(i).append(", ").append(i % 10).append(", 'n')");
    }
    engine.run(rows.toString());
    engine.run("create table kind (kind int primary key, name text)");
    engine.run("insert into kind values (1, 'one'), (2, 'two'), (3, 'three')");
    engine.run("analyze");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private JsonNode json(String sql, Object... parameters) throws IOException {
    List<String> rows = engine.query(sql, parameters);
    assertEquals(1, rows.size());
    return new ObjectMapper().readTree(rows.getFirst()).get(0);
  }

  /// The first node of a type, from the top.
  private static JsonNode find(JsonNode plan, String type) {
    return Objects.requireNonNull(search(plan, type), plan.toString());
  }

  private static @Nullable JsonNode search(JsonNode node, String type) {
    if (node.get("Node Type").asText().equals(type)) {
      return node;
    }
    JsonNode plans = node.get("Plans");
    for (int i = 0; plans != null && i < plans.size(); i++) {
      JsonNode found = search(plans.get(i), type);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  @Test
  void shouldShowExpectedAndActualRowsOfEachNode() throws IOException {
    JsonNode explained =
        json(
            "explain (analyze, verbose, format json) select kind.name, count(*) from item join kind using (kind)"
                + " where id < 400 group by kind.name order by 2 limit 2");
    JsonNode plan = explained.get("Plan");
    JsonNode group = find(plan, "Aggregate");
    assertEquals(3, group.get("Actual Rows").asLong());
    assertEquals(3, group.get("Plan Rows").asLong());
    assertTrue(group.get("Peak Memory Usage").asLong() > 0);
    JsonNode join = find(plan, "Hash Join");
    assertEquals(120, join.get("Actual Rows").asLong());
    assertEquals("INNER", join.get("Join Type").asText());
    assertTrue(join.get("Plan Rows").asLong() > 60 && join.get("Plan Rows").asLong() < 240);
    JsonNode scan = join.get("Plans").get(0);
    assertEquals(400, scan.get("Actual Rows").asLong(), scan.toString());
    assertTrue(scan.get("Actual Loops").asLong() >= 1);
    assertEquals("public.item", scan.get("Relation").asText());
    // Time is that of a node with everything below it.
    assertTrue(
        group.get("Actual Total Time").asDouble() >= join.get("Actual Total Time").asDouble());
    assertTrue(explained.get("Execution Time").asDouble() > 0);
    assertTrue(explained.get("Planning Time").asDouble() > 0);
  }

  @Test
  void shouldMeasureWindowsAndGroupingSets() throws IOException {
    JsonNode plan =
        json("explain (analyze, format json) select kind, grouping(kind), max(n) from (select kind, row_number() over (partition by kind order by id) as n"
                + " from item where id < 400) q group by rollup (kind)")
            .get("Plan");
    JsonNode window = find(plan, "Window");
    assertEquals(400, window.get("Actual Rows").asLong(), plan.toString());
    assertTrue(window.get("Peak Memory Usage").asLong() > 0, plan.toString());
    assertTrue(
        window.get("Actual Total Time").asDouble()
            >= window.get("Plans").get(0).get("Actual Total Time").asDouble(),
        plan.toString());
    assertEquals(800, find(plan, "Grouping Sets").get("Actual Rows").asLong(), plan.toString());
  }

  @Test
  void shouldMeasureCorrelatedPartsAndRecursions() throws IOException {
    JsonNode plan =
        json("explain (analyze, format json) with recursive r(n) as (select 1 union all select n + 1 from r where n < 7) select n,"
                + " (select name from kind where kind = n limit 1) from r")
            .get("Plan");
    assertEquals(7, find(plan, "Recursive Union All").get("Actual Rows").asLong(), plan.toString());
  }

  @Test
  void shouldExplainAsText() {
    String plain = String.join("\n", engine.query("explain select note from item where kind = 3"));
    assertTrue(plain.contains("Table Scan on public.item  (rows="), plain);
    assertFalse(plain.contains("actual"), plain);
    assertFalse(plain.contains("Time"), plain);
    String measured =
        String.join("\n", engine.query("explain analyze select note from item where kind = 3"));
    assertTrue(measured.contains(" rows=50 loops="), measured);
    assertTrue(measured.contains("actual time="), measured);
    assertTrue(measured.contains("Planning Time: "), measured);
    assertTrue(measured.contains("Execution Time: "), measured);
    String bare =
        String.join(
            "\n",
            engine.query(
                "explain (analyze, costs off, timing off, summary off) select note from item where id = $1",
                7));
    assertTrue(
        bare.endsWith(
            "Index Scan using item_pkey on public.item (actual rows=1 loops=1)\n"
                + "        Columns: id, note\n        Equal: $1"),
        bare);
  }

  @Test
  void shouldChangeRowsOnlyWhenItAnalyzes() throws IOException {
    assertEquals(
        1,
        engine.run("explain delete from item where kind = 3").rows().stream()
            .filter(l -> l.startsWith("Delete on public.item"))
            .count());
    assertEquals(List.of("500"), engine.query("select count(*) from item"));
    JsonNode plan =
        json("explain (analyze, format json) delete from item where kind = 3 returning id")
            .get("Plan");
    assertEquals("Delete", plan.get("Node Type").asText());
    assertEquals(50, plan.get("Actual Rows").asLong());
    assertEquals(List.of("450"), engine.query("select count(*) from item"));
    assertEquals(
        1,
        json("explain (analyze, format json) insert into item values ($1, 1, 'x')", 1000)
            .get("Plan")
            .get("Actual Rows")
            .asLong());
    assertEquals(
        ErrorCode.UNIQUE_VIOLATION,
        assertThrows(
                EngineException.class,
                () -> engine.run("explain analyze insert into item values (1000, 1, 'x')"))
            .code());
    assertEquals(List.of("451"), engine.query("select count(*) from item"));
  }

  @Test
  void shouldRefuseOptionsThatThereAreNot() {
    assertEquals(
        ErrorCode.SYNTAX_ERROR,
        assertThrows(EngineException.class, () -> engine.run("explain (nothing) select 1")).code());
    assertEquals(
        ErrorCode.INVALID_PARAMETER_VALUE,
        assertThrows(EngineException.class, () -> engine.run("explain (format xml) select 1"))
            .code());
    String bare = String.join("\n", engine.query("explain (costs off, buffers) select 1"));
    assertTrue(bare.contains("Values (1 rows)"), bare);
    assertFalse(bare.contains("rows="), bare);
  }

  @Test
  void shouldShowSettings() {
    engine.engine.showSettings(List.of(new ShownSetting("memory", "1GB", "Memory of the store.")));
    assertEquals(List.of("1GB"), engine.query("show memory"));
    assertEquals("memory", engine.run("show memory").columns().getFirst().name());
    assertEquals(List.of("UTC"), engine.query("show time zone"));
    assertEquals(List.of("UTC"), engine.query("SHOW TimeZone;"));
    assertTrue(
        engine.query("show all").contains("memory|1GB|Memory of the store."),
        engine.query("show all").toString());
    assertEquals(
        ErrorCode.UNDEFINED_OBJECT,
        assertThrows(EngineException.class, () -> engine.run("show nothing.here")).code());
  }
}
