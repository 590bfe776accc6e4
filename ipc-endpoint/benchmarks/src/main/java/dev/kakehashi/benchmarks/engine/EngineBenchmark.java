package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The engine through the Java client against PostgreSQL's heap through psql and pgbench, measure by measure, taking turns.
///
/// `make bench-engine` runs it, with settings as system properties. Arguments: runtime directory of the endpoint, then an operation:
/// `run` and the rows of the table that are wanted, `memory`, `execute` and statements, `fill` and `answer` (the two halves of the restart)
/// and a number of rows.
public final class EngineBenchmark {
  private static final List<String> ROWS =
      List.of("bulk", "select", "scan", "aggregate", "readers", "stored", "tpch", "duckdb");

  /// Rows of one transaction that fills the restart's table: bounds what the engine keeps for one transaction.
  private static final int ROWS_PER_TRANSACTION = 1_000_000;

  private static final int STEP_NANOS = 10;
  private static final int LONGEST_NANOS = 1_000_000;

  private final AttachOptions options;
  private final Heap heap;
  private final Repetitions turns;
  private final long rows = Long.getLong("bench.tableRows", 1_000_000);
  private final int seconds = Integer.getInteger("bench.seconds", 3);
  private final int warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 5);

  private EngineBenchmark(Path runtimeDirectory) {
    options = AttachOptions.of(runtimeDirectory).withApplicationName("engine benchmark");
    heap = new Heap(required("bench.pgbench"), Path.of(required("bench.directory")));
    turns =
        new Repetitions(
            Integer.getInteger("bench.warmUps", 5), Integer.getInteger("bench.repetitions", 5));
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalArgumentException("the system property " + property + " is not set");
    }
    return value;
  }

  public static void main(String[] arguments) throws Exception {
    var benchmark = new EngineBenchmark(Path.of(arguments[0]));
    List<String> operands = Arrays.asList(arguments).subList(2, arguments.length);
    switch (arguments[1]) {
      case "run" -> benchmark.run(operands);
      case "memory" -> benchmark.memory();
      case "execute" -> benchmark.execute(operands.getFirst());
      case "fill" -> benchmark.fill(Long.parseLong(operands.getFirst()));
      case "answer" -> benchmark.answer(Long.parseLong(operands.getFirst()));
      default -> throw new IllegalArgumentException("no operation \"" + arguments[1] + "\"");
    }
  }

  private void run(List<String> wanted) throws Exception {
    BenchmarkRows.require(ROWS, wanted);
    try (Session session = Session.attach(options)) {
      prepareTables(session);
      for (String row : wanted) {
        switch (row) {
          case "bulk" -> bulk(session);
          case "select" -> select(session);
          case "scan" ->
              query(session, "full scan and sum of one column", "SELECT sum(val) FROM numbers", 2);
          case "aggregate" ->
              query(
                  session,
                  "aggregate in 10 groups",
                  "SELECT grp, sum(val), count(*) FROM numbers GROUP BY grp",
                  3);
          case "readers" -> new ReaderThreads(options, heap, turns, seconds).run(session, rows);
          case "stored" ->
              new StoredCommits(options, heap, turns, seconds, warmUpSeconds).run(session);
          case "tpch" -> new TpchQueries(session, heap, queries()).run(turns);
          default -> new DuckDbQueries(session, heap, queries()).run(turns);
        }
      }
    }
  }

  private static Path queries() {
    return Path.of(required("bench.tpchQueries"));
  }

  private void memory() throws IOException, InterruptedException {
    try (Session session = Session.attach(options)) {
      new RowMemory(session, heap).run();
    }
  }

  private void prepareTables(Session session) throws IOException, InterruptedException {
    for (String table : List.of("numbers", "copies")) {
      session.execute(Numbers.definition(table));
      heap.run(Numbers.definition(table));
    }
    Numbers.load(session, "numbers", 1, rows);
    heap.run(
        "INSERT INTO numbers " + Numbers.query(rows),
        "VACUUM ANALYZE numbers",
        "COPY numbers TO '" + copyFile() + "'");
  }

  private Path copyFile() {
    return heap.directory().resolve("rows.copy");
  }

  private void bulk(Session session) throws Exception {
    Repetitions.Medians medians =
        turns.compare(
            () -> heap.time("TRUNCATE copies", "COPY copies FROM '" + copyFile() + "'"),
            () -> {
              session.execute("TRUNCATE copies");
              return Repetitions.millis(() -> Numbers.load(session, "copies", 1, rows));
            });
    printTimes("bulk insert of %,d rows (heap: COPY)".formatted(rows), medians, 2);
  }

  private void query(Session session, String what, String sql, double goal) throws Exception {
    try (PreparedStatement statement = session.prepare(sql)) {
      Repetitions.Medians medians =
          turns.compare(
              () -> heap.time(sql),
              () -> Repetitions.millis(() -> Numbers.drain(session.query(statement))));
      printTimes("%s, %,d rows".formatted(what, rows), medians, goal);
    }
  }

  private static void printTimes(String what, Repetitions.Medians medians, double goal) {
    Report.speed(
        what,
        Report.millis(medians.heap()),
        Report.millis(medians.engine()),
        medians.heap() / medians.engine(),
        goal);
  }

  /// By requests, and in the endpoint's memory.
  private void select(Session session) {
    try (Session asking = Session.attach(options.withDirectReads(false))) {
      select(asking, "select by key, cached plan, round trip, p50", 5);
    }
    long before = session.directReads();
    select(session, "select by key, read in the endpoint's memory, p50", 1);
    if (session.directReads() == before) {
      throw new IllegalStateException("the endpoint does not give its memory");
    }
  }

  private void select(Session session, String what, int goalMicros) {
    try (PreparedStatement select = session.prepare("SELECT grp FROM numbers WHERE id = $1")) {
      selects(session, select, warmUpSeconds);
      double micros = selects(session, select, seconds) / 1e3;
      Report.atMost(
          what,
          String.format(Locale.ROOT, "%.2f us", micros),
          micros,
          goalMicros,
          goalMicros + " us");
    }
  }

  /// @return median in nanoseconds, to 10 of them
  private long selects(Session session, PreparedStatement select, int forSeconds) {
    var counts = new int[LONGEST_NANOS / STEP_NANOS];
    int count = 0;
    Parameters key = select.parameters();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(forSeconds);
    long id = 0;
    for (long began = System.nanoTime(); began < end; began = System.nanoTime()) {
      id = (id + 997) % rows;
      key.reset();
      key.writer().addRow();
      key.writer().setLong(0, id + 1);
      int found = Numbers.drain(session.query(select, key));
      long nanos = System.nanoTime() - began;
      counts[(int) Math.min(nanos, LONGEST_NANOS - 1) / STEP_NANOS]++;
      count++;
      if (found != 1) {
        throw new IllegalStateException("no row with id " + (id + 1));
      }
    }
    int step = 0;
    for (int below = counts[0]; below <= count / 2; below += counts[step]) {
      step++;
    }
    return (long) step * STEP_NANOS;
  }

  private void execute(String statements) {
    try (Session session = Session.attach(options)) {
      for (String statement : statements.split(";", -1)) {
        session.execute(statement);
      }
    }
  }

  private void fill(long count) {
    try (Session session = Session.attach(options)) {
      session.execute(Numbers.definition("filled"));
      for (long first = 1; first <= count; first += ROWS_PER_TRANSACTION) {
        long last = Math.min(count, first + ROWS_PER_TRANSACTION - 1);
        Numbers.load(session, "filled", first, last);
      }
    }
  }

  private void answer(long count) {
    try (Session session = Session.attach(options);
        PreparedStatement counting = session.prepare("SELECT count(*) FROM filled");
        var result = session.query(counting)) {
      if (!result.next() || result.getLong(0) != count) {
        throw new IllegalStateException("the restarted endpoint does not have " + count + " rows");
      }
    }
    double seconds = (System.currentTimeMillis() - Long.getLong("bench.began")) / 1e3;
    Report.atMost(
        "restart with %,d rows, to the first answer".formatted(count),
        String.format(Locale.ROOT, "%.1f s", seconds),
        seconds,
        20,
        "20 s");
  }
}
