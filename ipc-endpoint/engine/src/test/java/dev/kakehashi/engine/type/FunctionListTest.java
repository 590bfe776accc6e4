package dev.kakehashi.engine.type;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.registry.Overloads;
import dev.kakehashi.engine.type.registry.PolymorphicFunctions;
import dev.kakehashi.engine.type.registry.RowFunctions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// FUNCTIONS.md lists what is registered. With `-Dkakehashi.update=true` the test writes it.
final class FunctionListTest {
  private static final Path LIST = Path.of("FUNCTIONS.md");

  @Test
  void shouldListEveryFunctionInTheDocumentation() throws IOException {
    String expected = list();
    if (Boolean.getBoolean("kakehashi.update")) {
      Files.writeString(LIST, expected);
    }
    assertEquals(
        expected,
        Files.readString(LIST),
        "FUNCTIONS.md is stale; run this test with -Dkakehashi.update=true");
  }

  private static String list() {
    Map<String, Set<String>> operators = new TreeMap<>();
    Map<String, Set<String>> functions = new TreeMap<>();
    for (ScalarFunction function : Functions.all()) {
      String name = function.name();
      boolean operator = Overloads.isOperator(name);
      String call = Functions.describe(name, function.argumentOids());
      (operator ? operators : functions)
          .computeIfAbsent(name, _ -> new TreeSet<>())
          .add(call + " → " + Types.name(function.resultOid()));
    }
    for (PolymorphicFunction function : PolymorphicFunctions.all()) {
      (Overloads.isOperator(function.name()) ? operators : functions)
          .computeIfAbsent(function.name(), _ -> new TreeSet<>())
          .add(function.signature());
    }
    Map<String, Set<String>> aggregates = new TreeMap<>();
    for (AggregateFunction aggregate : Aggregates.all()) {
      String call = Functions.describe(aggregate.name(), aggregate.argumentOids());
      aggregates
          .computeIfAbsent(aggregate.name(), _ -> new TreeSet<>())
          .add(call + " → " + Types.name(aggregate.resultOid()));
    }
    Map<String, Set<String>> rows = new TreeMap<>();
    for (RowFunction function : RowFunctions.all()) {
      String call = Functions.describe(function.name(), function.argumentOids());
      rows.computeIfAbsent(function.name(), _ -> new TreeSet<>())
          .add(
              call
                  + " → rows of "
                  + function.columns().stream()
                      .map(column -> Types.name(column.oid()))
                      .collect(Collectors.joining(", ")));
    }
    StringBuilder out = new StringBuilder();
    out.append("# Functions and operators of the engine\n\n");
    out.append("Written by `FunctionListTest` from what is registered; do not edit.\n");
    section(out, "Operators", operators);
    section(out, "Functions", functions);
    section(out, "Aggregate functions", aggregates);
    section(out, "Functions that return rows", rows);
    out.append(
        "\ncount(*) and count of any type; array_agg(), json_agg(), jsonb_agg(), json_object_agg() and jsonb_object_agg() of any types; unnest() and generate_subscripts() of any array; concat(), concat_ws() and format() of any types.\n");
    return out.toString();
  }

  private static void section(StringBuilder out, String title, Map<String, Set<String>> entries) {
    out.append("\n## ").append(title).append('\n');
    entries.forEach((name, calls) -> {
      out.append("\n* `").append(name).append("`\n");
      for (String call : calls) {
        out.append("  * `").append(call).append("`\n");
      }
    });
  }
}
