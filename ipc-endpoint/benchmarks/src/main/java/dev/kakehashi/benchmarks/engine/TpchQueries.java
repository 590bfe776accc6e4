package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// TPC-H's 22 queries over loaded tables.
///
/// @param texts directory with a file `1.sql` to `22.sql` for each
record TpchQueries(Session session, Heap heap, Path texts) {
  private static final int QUERIES = 22;
  private static final double WORST_SPEED = 1 / 3.0;

  void run(Repetitions turns) throws Exception {
    double heapSum = 0;
    double engineSum = 0;
    double worst = Double.MAX_VALUE;
    int slowest = 0;
    for (int number = 1; number <= QUERIES; number++) {
      String sql = Files.readString(texts.resolve(number + ".sql"));
      Repetitions.Medians medians = one(turns, sql);
      Report.part("TPC-H query " + number, medians.heap(), medians.engine());
      heapSum += medians.heap();
      engineSum += medians.engine();
      double speed = medians.heap() / medians.engine();
      if (speed < worst) {
        worst = speed;
        slowest = number;
      }
    }
    Report.speed(
        "TPC-H, sum of the 22 queries",
        Report.millis(heapSum),
        Report.millis(engineSum),
        heapSum / engineSum,
        1);
    Report.speed(
        String.format(Locale.ROOT, "  the slowest against heap: query %d", slowest),
        "",
        "",
        worst,
        WORST_SPEED);
  }

  private Repetitions.Medians one(Repetitions turns, String sql) throws Exception {
    try (PreparedStatement statement = session.prepare(sql)) {
      return turns.compare(
          () -> heap.time(sql),
          () -> Repetitions.millis(() -> Numbers.drain(session.query(statement))));
    } catch (RuntimeException failure) {
      throw new IOException("failed: " + sql, failure);
    }
  }
}
