package dev.kakehashi.engine.plan;

import java.util.Arrays;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/// Row counts that the optimiser expected when it made a plan, and the tables whose statistics it used. Unchanged once the plan is made.
public final class PlanEstimates {
  private final IdentityHashMap<PlanNode, Double> rows = new IdentityHashMap<>();
  private long[] tables = new long[0];

  /// Notes rows of a node, unless they are known.
  public void expect(PlanNode node, double expectedRows) {
    rows.putIfAbsent(node, expectedRows);
  }

  /// Rows that come out of a node; null: nothing was expected.
  public @Nullable Double rows(PlanNode node) {
    return rows.get(node);
  }

  /// Notes a table.
  public void use(long tableId) {
    if (Arrays.stream(tables).noneMatch(known -> known == tableId)) {
      tables = Arrays.copyOf(tables, tables.length + 1);
      tables[tables.length - 1] = tableId;
    }
  }

  /// Tables whose statistics the plan depends on.
  public long[] tables() {
    return tables;
  }
}
