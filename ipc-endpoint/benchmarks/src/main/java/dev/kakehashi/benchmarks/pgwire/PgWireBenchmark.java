package dev.kakehashi.benchmarks.pgwire;

import dev.kakehashi.benchmarks.engine.BenchmarkRows;
import dev.kakehashi.benchmarks.engine.Heap;
import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.benchmarks.engine.Repetitions.Medians;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The engine "pgwire" against PgJDBC and postgres_fdw on the same PostgreSQL; measure by measure, taking turns.
///
/// `make bench-pgwire` runs it. Arguments: the endpoint's runtime directory, the JDBC URL of its database, the program pgbench, a directory
/// of files, the endpoint's process; then the rows of the table that are wanted. libpq's variables say where the foreign tables are: of the
/// endpoint in schema `k`, of postgres_fdw in `p`.
public final class PgWireBenchmark implements AutoCloseable {
  private static final List<String> ROWS = List.of("select", "commit", "scan", "load", "fdw");
  private static final String BY_KEY = "SELECT val FROM numbers WHERE id = ";
  private static final String CHANGE = "UPDATE numbers SET val = val + 1 WHERE id = ";
  private static final String ALL = "SELECT id, grp, val FROM numbers";
  private static final int LOADED = 200_000;
  private static final int JDBC_BATCH = 10_000;

  private final Heap heap;
  private final long endpoint;
  private final Repetitions turns;
  private final long rows = Long.getLong("bench.tableRows", 1_000_000);
  private final int seconds = Integer.getInteger("bench.seconds", 3);
  private final int warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 10);
  private final Session session;
  private final Connection connection;
  private long key;

  private PgWireBenchmark(List<String> arguments) throws SQLException {
    session =
        Session.attach(
            AttachOptions.of(Path.of(arguments.get(0))).withApplicationName("pgwire benchmark"));
    connection =
        DriverManager.getConnection(
            arguments.get(1), System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
    heap = new Heap(arguments.get(2), Path.of(arguments.get(3)));
    endpoint = Long.parseLong(arguments.get(4));
    turns = new Repetitions(0, Integer.getInteger("bench.repetitions", 5));
  }

  public static void main(String[] arguments) throws Exception {
    List<String> all = Arrays.asList(arguments);
    List<String> wanted = all.subList(5, all.size());
    BenchmarkRows.require(ROWS, wanted);
    try (PgWireBenchmark benchmark = new PgWireBenchmark(all)) {
      benchmark.run(wanted);
    }
  }

  private void run(List<String> wanted) throws Exception {
    BenchmarkTable.head("other", "pgwire");
    for (String row : wanted) {
      switch (row) {
        case "select" -> single("select by key, PgJDBC", BY_KEY, true, 1.25);
        case "commit" -> single("one-row commit, PgJDBC", CHANGE, false, 1.15);
        case "scan" -> scan();
        case "load" -> load();
        default -> foreign();
      }
    }
  }

  // ---- against PgJDBC ----

  private void single(String what, String sql, boolean query, double goal) throws Exception {
    try (java.sql.PreparedStatement theirs = connection.prepareStatement(sql + "?");
        PreparedStatement ours = session.prepare(sql + "$1")) {
      Parameters parameters = ours.parameters();
      Repetitions.Measure byJdbc = () -> micros(seconds, () -> jdbc(theirs, query));
      double[] worked = new double[2]; // seconds of the processors, seconds of the clock
      Repetitions.Measure byEndpoint =
          () -> {
            double before = endpointSeconds();
            double took = micros(seconds, () -> endpoint(ours, parameters, query));
            worked[0] += endpointSeconds() - before;
            worked[1] += seconds;
            return took;
          };
      micros(warmUpSeconds, () -> jdbc(theirs, query));
      micros(warmUpSeconds, () -> endpoint(ours, parameters, query));
      Medians both = turns.compare(byJdbc, byEndpoint);
      BenchmarkTable.atMost(
          what,
          BenchmarkTable.micros(both.heap()),
          BenchmarkTable.micros(both.engine()),
          both.engine() / both.heap(),
          goal,
          "");
      BenchmarkTable.more(
          "processor time of the endpoint for each",
          "",
          BenchmarkTable.micros(worked[0] / worked[1] * both.engine()));
    }
  }

  /// One piece of work.
  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  private static double micros(int seconds, Work work) throws Exception {
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(seconds);
    long count = 0;
    long now = began;
    while (now < end) {
      work.run();
      count++;
      now = System.nanoTime();
    }
    return (now - began) / 1e3 / count;
  }

  private long nextKey() {
    key = (key + 7919) % rows;
    return key + 1;
  }

  private void jdbc(java.sql.PreparedStatement statement, boolean query) throws SQLException {
    statement.setLong(1, nextKey());
    if (!query) {
      expect(1, statement.executeUpdate());
      return;
    }
    try (ResultSet result = statement.executeQuery()) {
      int found = 0;
      while (result.next()) {
        result.getInt(1);
        found++;
      }
      expect(1, found);
    }
  }

  private void endpoint(PreparedStatement statement, Parameters parameters, boolean query) {
    parameters.reset();
    parameters.addRow(nextKey());
    if (!query) {
      expect(1, session.update(statement, parameters));
      return;
    }
    try (Rows result = session.query(statement, parameters)) {
      int found = 0;
      while (result.next()) {
        result.getInt(0);
        found++;
      }
      expect(1, found);
    }
  }

  private static void expect(long wanted, long found) {
    if (found != wanted) {
      throw new IllegalStateException(found + " rows instead of " + wanted);
    }
  }

  /// Processor time of the endpoint so far.
  private double endpointSeconds() {
    return ProcessHandle.of(endpoint)
            .flatMap(process -> process.info().totalCpuDuration())
            .orElseThrow()
            .toMillis()
        / 1e3;
  }

  private void scan() throws Exception {
    connection.setAutoCommit(false);
    try (java.sql.PreparedStatement theirs = connection.prepareStatement(ALL);
        PreparedStatement ours = session.prepare(ALL)) {
      theirs.setFetchSize(JDBC_BATCH);
      Repetitions.Measure byJdbc =
          () -> {
            long began = System.nanoTime();
            long found = 0;
            try (ResultSet result = theirs.executeQuery()) {
              while (result.next()) {
                found += result.getLong(1) > 0 ? 1 : 0;
              }
            }
            expect(rows, found);
            return (System.nanoTime() - began) / 1e6;
          };
      Repetitions.Measure byEndpoint =
          () -> {
            long began = System.nanoTime();
            expect(rows, Numbers.drain(session.query(ours)));
            return (System.nanoTime() - began) / 1e6;
          };
      rate("scan, PgJDBC", byJdbc, byEndpoint, rows, 0.8);
    } finally {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  private void load() throws Exception {
    Repetitions.Measure byJdbc =
        () -> {
          empty();
          long began = System.nanoTime();
          connection.setAutoCommit(false);
          try (java.sql.PreparedStatement insert =
              connection.prepareStatement("INSERT INTO loaded VALUES (?, ?, ?)")) {
            for (int id = 1; id <= LOADED; id++) {
              insert.setLong(1, id);
              insert.setInt(2, id % 10);
              insert.setInt(3, id % 100_000);
              insert.addBatch();
              if (id % JDBC_BATCH == 0) {
                insert.executeBatch();
              }
            }
            connection.commit();
          } finally {
            connection.setAutoCommit(true);
          }
          return (System.nanoTime() - began) / 1e6;
        };
    Repetitions.Measure byEndpoint =
        () -> {
          empty();
          return Repetitions.millis(() -> Numbers.load(session, "loaded", 1, LOADED));
        };
    rate("load of 200,000 rows, PgJDBC in batches", byJdbc, byEndpoint, LOADED, 0.8);
  }

  private void empty() throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute("TRUNCATE loaded");
    }
  }

  private void rate(
      String what, Repetitions.Measure theirs, Repetitions.Measure ours, long count, double goal)
      throws Exception {
    theirs.take();
    ours.take();
    Medians both = turns.compare(theirs, ours);
    BenchmarkTable.atLeast(
        what,
        BenchmarkTable.rate(count / both.heap() * 1e3),
        BenchmarkTable.rate(count / both.engine() * 1e3),
        both.heap() / both.engine(),
        goal);
  }

  // ---- against postgres_fdw ----

  private void foreign() throws Exception {
    Medians single = turns.compare(() -> selects("p"), () -> selects("k"));
    BenchmarkTable.atLeast(
        "select by key, postgres_fdw",
        BenchmarkTable.rate(single.heap()),
        BenchmarkTable.rate(single.engine()),
        single.engine() / single.heap(),
        1);
    timed("1,000 local keys joined", "SELECT sum(n.val) FROM keys JOIN %s.numbers n USING (id)", 5);
    String file = heap.directory().resolve("loaded.csv").toString();
    heap.run(
        "COPY (SELECT i, i %% 10, i FROM generate_series(1, %d) i) TO '%s' (FORMAT csv)"
            .formatted(LOADED, file));
    timed("COPY of 200,000 rows", "COPY %s.loaded FROM '" + file + "' (FORMAT csv)", 5);
    timed("scan", "EXPLAIN (ANALYZE, TIMING OFF) SELECT id, grp, val FROM %s.numbers", 1);
  }

  private double selects(String schema) throws IOException, InterruptedException {
    return heap.rate(
        "\\set id random(1, %d)\nSELECT val FROM %s.numbers WHERE id = :id;\n"
            .formatted(rows, schema),
        1,
        seconds);
  }

  private void timed(String what, String sql, double goal) throws Exception {
    Repetitions.Measure theirs =
        () -> {
          empty();
          return heap.time(sql.formatted("p"));
        };
    Repetitions.Measure ours =
        () -> {
          empty();
          return heap.time(sql.formatted("k"));
        };
    theirs.take();
    ours.take();
    Medians both = turns.compare(theirs, ours);
    BenchmarkTable.atLeast(
        what + ", postgres_fdw",
        BenchmarkTable.millis(both.heap()),
        BenchmarkTable.millis(both.engine()),
        both.heap() / both.engine(),
        goal);
  }

  @Override
  public void close() throws SQLException {
    session.close();
    connection.close();
  }
}
