package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/// Bytes that a row takes with its primary key, in the engine's memory and in heap. The engine has no other indexes of the tables yet.
record RowMemory(Session session, Heap heap) {
  private static final double GOAL = 0.8;

  /// Compared only.
  private static final List<String> OTHERS = List.of("part", "customer", "supplier");

  void run() throws IOException, InterruptedException {
    Report.head("heap", "engine");
    for (String table : List.of("lineitem", "orders", "partsupp", "pgbench_accounts")) {
      Report.ratio("bytes a row with key, " + table, ofHeap(table), ofEngine(table), GOAL);
    }
    for (String table : OTHERS) {
      Report.ratio("  " + table, ofHeap(table), ofEngine(table));
    }
  }

  private double ofHeap(String table) throws IOException, InterruptedException {
    String said =
        heap.run(
            String.format(
                Locale.ROOT,
                "SELECT (pg_table_size('%1$s') + pg_relation_size('%1$s_pkey'))::float8 / count(*) FROM %1$s",
                table));
    return Double.parseDouble(
        said.lines().filter(line -> line.matches("[0-9.]+")).findFirst().orElseThrow());
  }

  private double ofEngine(String table) {
    try (PreparedStatement asked =
            session.prepare(
                "SELECT total_bytes / t.row_count::float8 FROM kakehashi_catalog.table_memory m JOIN kakehashi_catalog.tables t"
                    + " USING (table_schema, table_name) WHERE table_name = '"
                    + table
                    + "'");
        Rows rows = session.query(asked)) {
      if (!rows.next()) {
        throw new IllegalStateException("the engine has no table " + table);
      }
      return rows.getDouble(0);
    }
  }
}
