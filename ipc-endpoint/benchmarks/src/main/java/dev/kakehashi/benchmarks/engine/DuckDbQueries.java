package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.benchmarks.DuckDb;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// TPC-H's 22 queries over loaded tables against DuckDB in memory, which has the same rows without keys and as many threads as there are
/// processors.
///
/// @param heap has the rows that DuckDB gets
/// @param texts directory with `1.sql` to `22.sql`, and DuckDB's definitions in `tables.sql`; heap may write into it
record DuckDbQueries(Session session, Heap heap, Path texts) {
  private static final int QUERIES = 22;
  private static final double MOST_TIMES_IN_SUM = 2;
  private static final double MOST_TIMES = 4;

  /// Name and type of a column, which begin behind a bracket or a comma.
  private static final Pattern COLUMN = Pattern.compile("(?:^|,)\\s*(\\w+)\\s+(\\w+)");

  void run(Repetitions turns) throws Exception {
    try (DuckDb duck = DuckDb.inMemory()) {
      load(duck);
      Report.head("DuckDB", "engine");
      double duckSum = 0;
      double engineSum = 0;
      double worst = 0;
      int slowest = 0;
      for (int number = 1; number <= QUERIES; number++) {
        Repetitions.Medians medians =
            one(turns, duck, Files.readString(texts.resolve(number + ".sql")));
        Report.times("  TPC-H query " + number, medians.heap(), medians.engine());
        duckSum += medians.heap();
        engineSum += medians.engine();
        double times = medians.engine() / medians.heap();
        if (times > worst) {
          worst = times;
          slowest = number;
        }
      }
      Report.times("TPC-H, sum of the 22 queries", duckSum, engineSum, MOST_TIMES_IN_SUM);
      Report.atMost(
          String.format(Locale.ROOT, "  the slowest against DuckDB: query %d", slowest),
          String.format(Locale.ROOT, "%.2f", worst),
          worst,
          MOST_TIMES,
          String.format(Locale.ROOT, "%.2f", MOST_TIMES));
    }
  }

  private void load(DuckDb duck) throws IOException, InterruptedException, SQLException {
    duck.run("SET threads = " + Runtime.getRuntime().availableProcessors());
    for (String definition : Files.readString(texts.resolve("tables.sql")).split(";", -1)) {
      if (definition.isBlank()) {
        continue;
      }
      duck.run(definition);
      String table = definition.strip().split("[ (]+", -1)[2];
      Path file = texts.resolve(table + ".csv");
      heap.run(
          "COPY (SELECT %s FROM %s) TO '%s' (FORMAT csv)"
              .formatted(withoutBlanks(definition), table, file));
      duck.run("COPY " + table + " FROM '" + file + "' (FORMAT csv, HEADER false)");
      Files.delete(file);
    }
  }

  /// Columns of a definition. DuckDB has no type whose values end in blanks that do not count: the constants of the queries have none.
  private static String withoutBlanks(String definition) {
    return COLUMN
        .matcher(definition.substring(definition.indexOf('(') + 1))
        .results()
        .map(column ->
            column.group(2).toLowerCase(Locale.ROOT).startsWith("char")
                ? "rtrim(" + column.group(1) + ")"
                : column.group(1))
        .collect(Collectors.joining(", "));
  }

  private Repetitions.Medians one(Repetitions turns, DuckDb duck, String sql) throws Exception {
    try (PreparedStatement statement = session.prepare(sql)) {
      long expected = Numbers.drain(session.query(statement));
      long found = duck.drain(sql);
      if (found != expected) {
        throw new IllegalStateException(
            "DuckDB answers %d rows, the engine %d".formatted(found, expected));
      }
      return turns.compare(
          () -> {
            long began = System.nanoTime();
            duck.drain(sql);
            return (System.nanoTime() - began) / 1e6;
          },
          () -> Repetitions.millis(() -> Numbers.drain(session.query(statement))));
    } catch (SQLException | RuntimeException failure) {
      throw new IOException("failed: " + sql, failure);
    }
  }
}
