package dev.kakehashi.engine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// How much faster is a large range of an index when tasks share it?
///
/// Arguments: rows of the table, workers, repetitions. Each statement runs by turns on an engine with one worker, where one task reads the range, and on one with the workers; both have the
/// same rows.
final class RangeBenchmark {
  private static final int WARMUPS = 10;

  private RangeBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[0]);
    int workers = Integer.parseInt(arguments[1]);
    int repetitions = Integer.parseInt(arguments[2]);
    List<String> statements =
        List.of(
            "select sum(v) from r where id between 1 and " + rows,
            "select sum(v) from r where id between 1 and " + rows * 3 / 10,
            "select g, count(*), sum(v) from r where id between 1 and " + rows + " group by g",
            "select sum(id) from r where k = 1",
            "select sum(v) from r where id between 1 and 1000");
    Path directory = Files.createTempDirectory("kakehashi-range");
    try (TestEngine one = engine(directory.resolve("one"), 1, rows);
        TestEngine many = engine(directory.resolve("many"), workers, rows)) {
      for (String sql : statements) {
        long[][] nanos = new long[2][repetitions];
        for (int i = -WARMUPS; i < repetitions; i++) {
          for (int side = 0; side < 2; side++) {
            TestEngine engine = side == 0 ? one : many;
            long start = System.nanoTime();
            engine.query(sql);
            if (i >= 0) {
              nanos[side][i] = System.nanoTime() - start;
            }
          }
        }
        Arrays.sort(nanos[0]);
        Arrays.sort(nanos[1]);
        double before = nanos[0][repetitions / 2] / 1e6;
        double now = nanos[1][repetitions / 2] / 1e6;
        System.out.printf(
            Locale.ROOT,
            "%-80s one %8.2f ms, %d workers %8.2f ms, ratio %.2f; least %.2f, %.2f%n",
            sql,
            before,
            workers,
            now,
            before / now,
            nanos[0][0] / 1e6,
            nanos[1][0] / 1e6);
      }
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static TestEngine engine(Path directory, int workers, int rows) {
    TestEngine engine = new TestEngine(directory, workers, 4L << 30, 1L << 30, 1L << 30);
    engine.run("create table r (id int8 primary key, k int4, g int4, v int8)");
    engine.run("create index on r (k)");
    engine.run(
        "insert into r select i, i % 2, i % 10, i::int8 * 7919 % 1000003 from generate_series(1, "
            + rows
            + ") as i");
    engine.run("analyze");
    return engine;
  }
}
