package dev.kakehashi.engine.embedded.query;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// How long do joins with a large hash table take?
///
/// Arguments: rows of the large table, workers, repetitions. It is joined with one of a twentieth of its rows, by numbers and by texts, and
/// with itself.
final class JoinBenchmark {
  private static final int WARMUPS = 10;

  private static final List<String> STATEMENTS =
      List.of(
          "select count(*) from few left join many on few.k = many.k",
          "select count(many.t) from few left join many on few.t = many.t",
          "select count(*) from many x join many y on x.id = y.id");

  private JoinBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[0]);
    int workers = Integer.parseInt(arguments[1]);
    int repetitions = Integer.parseInt(arguments[2]);
    Path directory = Files.createTempDirectory("kakehashi-join");
    try (TestEngine engine = new TestEngine(directory, workers, 4L << 30, 4L << 30, 1L << 30)) {
      for (String table : List.of("few", "many")) {
        engine.run("create table " + table + " (id int8 primary key, k int8, t text)");
        engine.run(
            "insert into "
                + table
                + " with recursive s(i) as (select 1::int8 union all select i + 1 from s where i < "
                + ("few".equals(table) ? rows / 20 : rows)
                + ") select i, i * 7919 % 1000003, 'text ' || i * 7919 % 1000003 from s");
      }
      for (String sql : STATEMENTS) {
        long[] nanos = new long[repetitions];
        for (int i = -WARMUPS; i < repetitions; i++) {
          long start = System.nanoTime();
          engine.query(sql);
          if (i >= 0) {
            nanos[i] = System.nanoTime() - start;
          }
        }
        Arrays.sort(nanos);
        System.out.printf(
            Locale.ROOT,
            "%-70s least %6.1f ms, median %6.1f ms%n",
            sql,
            nanos[0] / 1e6,
            nanos[repetitions / 2] / 1e6);
      }
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
