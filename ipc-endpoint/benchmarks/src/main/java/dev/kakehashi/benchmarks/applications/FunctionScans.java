package dev.kakehashi.benchmarks.applications;

import dev.kakehashi.benchmarks.engine.Heap;
import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Immutable scalar functions in scans, against what the engine has built in and PL/pgSQL on heap tables, and in a process of their own.
record FunctionScans(Session session, Heap heap, Repetitions turns, long rows) {
  private static final int WARM_UPS = 8;

  /// A function, and who does the same.
  ///
  /// @param query with %s for the value that is computed
  /// @param builtIn expression of SQL
  /// @param call of the function
  /// @param plpgsql its definition
  private record Work(String name, String query, String builtIn, String call, String plpgsql) {}

  private static final List<Work> WORKS =
      List.of(
          new Work(
              "bigint",
              "SELECT sum(%s) FROM reading",
              "id * 3 + 1",
              "thrice(id)",
              plpgsql("thrice(v int8) RETURNS int8", "v * 3 + 1")),
          new Work(
              "double precision",
              "SELECT sum(%s) FROM reading",
              "sqrt(x)",
              "rooted(x)",
              plpgsql("rooted(v float8) RETURNS float8", "sqrt(v)")),
          new Work(
              "numeric",
              "SELECT sum(%s) FROM reading",
              "price * (1 - discount)",
              "net(price, discount)",
              plpgsql("net(p numeric, d numeric) RETURNS numeric", "p * (1 - d)")),
          new Work(
              "text",
              "SELECT sum(length(%s)) FROM reading",
              "upper(name)",
              "shouted(name)",
              plpgsql("shouted(v text) RETURNS text", "upper(v)")));

  private static String plpgsql(String head, String expression) {
    return "CREATE FUNCTION %s LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $f$ BEGIN RETURN %s; END $f$"
        .formatted(head, expression);
  }

  void scan() throws Exception {
    for (Work work : WORKS) {
      heap.run(work.plpgsql());
      try (PreparedStatement builtIn = prepared(work, work.builtIn());
          PreparedStatement called = prepared(work, work.call())) {
        warmUp(builtIn, called);
        String onHeap = work.query().formatted(work.call());
        List<Double> heaps = new ArrayList<>();
        Repetitions.Medians medians =
            turns.compare(
                () -> {
                  heaps.add(heap.time(onHeap));
                  return millis(builtIn);
                },
                () -> millis(called));
        double ofHeap = Repetitions.median(heaps);
        BenchmarkTable.atMost(
            "scan, function of " + work.name() + " (other: built in)",
            BenchmarkTable.millis(medians.heap()),
            BenchmarkTable.millis(medians.engine()),
            medians.engine() / medians.heap(),
            1.3,
            "");
        BenchmarkTable.atMost(
            "  the same (other: PL/pgSQL on heap)",
            BenchmarkTable.millis(ofHeap),
            BenchmarkTable.millis(medians.engine()),
            medians.engine() / ofHeap,
            0.3,
            "");
      }
    }
  }

  /// The functions in the endpoint, and in a process of their own.
  void process() throws Exception {
    session.execute("CREATE SCHEMA near");
    session.execute(
        "CREATE APPLICATION near.measured FROM "
            + MeasuredJar.literal()
            + " AS 'measured.jar' WITH (isolation = 'process')");
    for (Work work : WORKS) {
      try (PreparedStatement here = prepared(work, work.call());
          PreparedStatement near = prepared(work, "near." + work.call())) {
        warmUp(here, near);
        Repetitions.Medians medians = turns.compare(() -> millis(here), () -> millis(near));
        double nanos = (medians.engine() - medians.heap()) * 1e6 / rows;
        BenchmarkTable.atMost(
            "process of its own, " + work.name() + ", a row more",
            BenchmarkTable.millis(medians.heap()),
            BenchmarkTable.millis(medians.engine()),
            nanos,
            100,
            "ns");
      }
    }
  }

  private PreparedStatement prepared(Work work, String value) {
    return session.prepare(work.query().formatted(value));
  }

  private void warmUp(PreparedStatement one, PreparedStatement other) throws IOException {
    for (int i = 0; i < WARM_UPS; i++) {
      if (!(millis(one) > 0 && millis(other) > 0)) {
        throw new IOException("a scan took no time");
      }
    }
  }

  private double millis(PreparedStatement statement) {
    return Repetitions.millis(() -> {
      if (Numbers.drain(session.query(statement)) != 1) {
        throw new IllegalStateException("a sum has no row");
      }
    });
  }
}
