package dev.kakehashi.engine.embedded.query;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// How much faster is a large range of an index when tasks share it, and what does a row cost that an index leads to, against one of a scan
/// of all pages?
///
/// Arguments: rows of the table, workers, repetitions. Each statement runs by turns on an engine with one worker, where one task reads the
/// range, on one with the workers, and there once more so that no index can be used; both engines have the same rows.
final class RangeBenchmark {
  private static final int WARMUPS = 10;

  private RangeBenchmark() {}

  /// @param range a condition that an index is read for, with parameters, because a constant may be found to bound too much for that
  /// @param parameters its values
  /// @param pages the same condition, so that no index serves it
  private record Query(
      String select, String range, String pages, String rest, Object... parameters) {
    static Query between(String select, String rest, long rows) {
      return new Query(select, "id between $1 and $2", "id + 0 between $1 and $2", rest, 1L, rows);
    }

    String text(boolean byIndex) {
      return "select " + select + " from r where " + (byIndex ? range : pages) + rest;
    }
  }

  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[0]);
    int workers = Integer.parseInt(arguments[1]);
    int repetitions = Integer.parseInt(arguments[2]);
    List<Query> queries =
        List.of(
            Query.between("sum(v)", "", rows),
            Query.between("sum(v)", "", rows * 3L / 10),
            Query.between("g, count(*), sum(v)", " group by g", rows),
            new Query("sum(id)", "k = $1", "k + 0 = $1", "", 1),
            Query.between("sum(v)", "", 1000));
    Path directory = Files.createTempDirectory("kakehashi-range");
    try (TestEngine one = engine(directory.resolve("one"), 1, rows);
        TestEngine many = engine(directory.resolve("many"), workers, rows)) {
      for (Query query : queries) {
        compare(query, one, many, repetitions);
      }
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static void compare(Query query, TestEngine one, TestEngine many, int repetitions) {
    long[][] nanos = new long[3][repetitions];
    for (int i = -WARMUPS; i < repetitions; i++) {
      for (int side = 0; side < nanos.length; side++) {
        TestEngine engine = side == 0 ? one : many;
        long start = System.nanoTime();
        engine.query(query.text(side < 2), query.parameters());
        if (i >= 0) {
          nanos[side][i] = System.nanoTime() - start;
        }
      }
    }
    double[] medians =
        Arrays.stream(nanos)
            .mapToDouble(side -> Arrays.stream(side).sorted().toArray()[repetitions / 2] / 1e6)
            .toArray();
    System.out.printf(
        Locale.ROOT,
        "%-70s one task %8.2f ms, several %8.2f ms, ratio %.2f; pages %8.2f ms%n",
        query.text(true) + " " + Arrays.toString(query.parameters()),
        medians[0],
        medians[1],
        medians[0] / medians[1],
        medians[2]);
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
