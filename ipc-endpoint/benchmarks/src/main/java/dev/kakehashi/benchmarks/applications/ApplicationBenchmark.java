package dev.kakehashi.benchmarks.applications;

import dev.kakehashi.benchmarks.engine.BenchmarkRows;
import dev.kakehashi.benchmarks.engine.Heap;
import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.engine.Repetitions;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.benchmarks.rest.Load;
import dev.kakehashi.benchmarks.rest.ServerProcesses;
import dev.kakehashi.benchmarks.rest.Service;
import dev.kakehashi.benchmarks.rest.Template;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Procedure;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Native applications against SQL by the Java client, PL/pgSQL on PostgreSQL's heap, and what the engine has built in; measure by measure,
/// taking turns.
///
/// `make bench-applications` runs it, with settings as system properties. Arguments: the endpoint's runtime directory, process and HTTP
/// port, the program pgbench, a directory of files; then the rows of the table that are wanted. The endpoint's password is in
/// KAKEHASHI_PASSWORD; libpq's variables say where PostgreSQL is.
public final class ApplicationBenchmark {
  private static final List<String> ROWS =
      List.of("procedure", "lookup", "invoke", "scan", "process", "route", "messages");
  private static final int ACCOUNTS = 100_000;
  private static final int CONNECTIONS = 8;
  private static final long LOOKUPS = 200_000;
  private static final long ROUNDS = 20;
  private static final long RING = 100_000;
  private static final double IDLE_SECONDS = 2;
  private static final double LONGEST_WAIT_SECONDS = 120;

  private final AttachOptions options;
  private final long endpointPid;
  private final Service http;
  private final Heap heap;
  private final Repetitions turns;
  private final long rows = Long.getLong("bench.tableRows", 1_000_000);
  private final double seconds = Integer.getInteger("bench.seconds", 3);
  private final double warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 8);

  private ApplicationBenchmark(List<String> arguments) throws IOException {
    options =
        AttachOptions.of(Path.of(arguments.get(0)))
            .withApplicationName("application benchmark")
            .withDirectReads(false);
    endpointPid = Long.parseLong(arguments.get(1));
    http =
        Service.login(
            Integer.parseInt(arguments.get(2)),
            System.getProperty("bench.user"),
            System.getenv("KAKEHASHI_PASSWORD"));
    heap = new Heap(arguments.get(3), Path.of(arguments.get(4)));
    turns = new Repetitions(0, Integer.getInteger("bench.repetitions", 3));
  }

  public static void main(String[] arguments) throws Exception {
    List<String> all = Arrays.asList(arguments);
    List<String> wanted = all.subList(5, all.size());
    BenchmarkRows.require(ROWS, wanted);
    new ApplicationBenchmark(all).run(wanted);
  }

  private void run(List<String> wanted) throws Exception {
    try (Session session = Session.attach(options)) {
      prepareTables(session);
      session.execute(
          "CREATE APPLICATION measured FROM " + MeasuredJar.literal() + " AS 'measured.jar'");
      FunctionScans functions = new FunctionScans(session, heap, turns, rows);
      BenchmarkTable.head("other", "application");
      for (String row : wanted) {
        switch (row) {
          case "procedure" ->
              new Transfers(options, heap, turns, seconds, warmUpSeconds, ACCOUNTS).run();
          case "lookup" -> lookup(session);
          case "invoke" -> invoke(session);
          case "scan" -> functions.scan();
          case "process" -> functions.process();
          case "route" -> route();
          default -> messages(session);
        }
      }
    }
  }

  private void prepareTables(Session session) throws IOException, InterruptedException {
    List<String> both =
        List.of(
            "CREATE TABLE account (id int8 PRIMARY KEY, owner text, balance int8)",
            "INSERT INTO account SELECT i, 'owner ' || i, 1000000 FROM generate_series(1::int8, %d::int8) i"
                .formatted(ACCOUNTS),
            "CREATE TABLE fee (id int8 PRIMARY KEY, amount int8)",
            "INSERT INTO fee SELECT i, i FROM generate_series(1::int8, 10::int8) i",
            "CREATE TABLE reading (id int8 PRIMARY KEY, x float8, price numeric, discount numeric, name text)",
            "INSERT INTO reading SELECT i, i::float8 / 7, (i %% 100000)::numeric / 100, (i %% 30)::numeric / 100, 'reading ' || i FROM generate_series(1::int8, %d::int8) i"
                .formatted(rows),
            "ANALYZE");
    for (String each : both) {
      session.execute(each);
    }
    heap.run(both.toArray(new String[0]));
  }

  // ---- calls ----

  private void lookup(Session session) throws Exception {
    Procedure lookups = session.procedure("lookups", TypeOid.INT8);
    String loop =
        "DO $do$ DECLARE b int8; k int8 := 0; BEGIN FOR i IN 1..%d LOOP k := (k + 997) %% %d; SELECT balance INTO STRICT b FROM account WHERE id = k + 1; END LOOP; END $do$"
            .formatted(LOOKUPS, ACCOUNTS);
    long until = System.nanoTime() + (long) (warmUpSeconds * 1e9);
    do {
      number(lookups, LOOKUPS);
    } while (System.nanoTime() < until);
    Repetitions.Medians medians =
        turns.compare(() -> heap.time(loop) * 1e6 / LOOKUPS, () -> number(lookups, LOOKUPS));
    BenchmarkTable.atMost(
        "lookup by key in a procedure (other: PL/pgSQL)",
        nanos(medians.heap()),
        nanos(medians.engine()),
        medians.engine() / 1e3,
        1,
        "us");
  }

  private static String nanos(double nanos) {
    return "%,.0f ns".formatted(nanos);
  }

  /// The number that a procedure gives.
  private static long number(Procedure procedure, Object... values) {
    try (Rows result = procedure.call(values)) {
      if (!result.next()) {
        throw new IllegalStateException(procedure.name() + " has given no row");
      }
      return result.getLong(0);
    }
  }

  private void invoke(Session session) throws Exception {
    Procedure empty = session.procedure("empty");
    try (PreparedStatement select = session.prepare("SELECT balance FROM account WHERE id = $1")) {
      Parameters key = select.parameters();
      Runnable selecting =
          () -> {
            key.reset();
            key.writer().addRow();
            key.writer().setLong(0, 7);
            if (Numbers.drain(session.query(select, key)) != 1) {
              throw new IllegalStateException("there is no account 7");
            }
          };
      Runnable calling =
          () -> {
            if (empty.run() != 0) {
              throw new IllegalStateException("an empty procedure has given rows");
            }
          };
      new CallTimes(selecting, warmUpSeconds);
      new CallTimes(calling, warmUpSeconds);
      CallTimes[] last = new CallTimes[2];
      Repetitions.Medians medians =
          turns.compare(
              () -> {
                last[0] = new CallTimes(selecting, seconds);
                return last[0].micros(50);
              },
              () -> {
                last[1] = new CallTimes(calling, seconds);
                return last[1].micros(50);
              });
      BenchmarkTable.atMost(
          "empty procedure, p50 (other: select by key)",
          BenchmarkTable.micros(medians.heap()),
          BenchmarkTable.micros(medians.engine()),
          medians.engine(),
          3,
          "us");
      BenchmarkTable.more(
          "p99",
          BenchmarkTable.micros(last[0].micros(99)),
          BenchmarkTable.micros(last[1].micros(99)));
      BenchmarkTable.more(
          "processor time, both sides",
          BenchmarkTable.micros(last[0].processorMicros()),
          BenchmarkTable.micros(last[1].processorMicros()));
    }
  }

  // ---- routes ----

  private Load.Source keyed(byte[] request, char padding) {
    return () -> {
      Template template = new Template(request, padding);
      long[] id = {0};
      return () -> {
        id[0] = (id[0] + 997) % rows;
        return template.with(id[0] + 1);
      };
    };
  }

  private void route() throws Exception {
    Load.Source statement =
        keyed(
            http.statement(
                "/v1/sql", "", "SELECT id, x, price FROM reading WHERE id = $1", Template.NUMBER),
            ' ');
    Load.Source route = keyed(http.get("/v1/apps/measured/reading/" + Template.NUMBER, ""), '0');
    for (int connections : List.of(1, CONNECTIONS)) {
      Load.run(http.port(), statement, connections, warmUpSeconds);
      Load.run(http.port(), route, connections, warmUpSeconds);
      double[] used = new double[2];
      double[] counts = new double[2];
      Repetitions.Medians medians =
          turns.compare(
              () -> loaded(statement, connections, 0, used, counts),
              () -> loaded(route, connections, 1, used, counts));
      String what =
          "route, select by key, %d connection%s"
              .formatted(connections, connections == 1 ? "" : "s");
      BenchmarkTable.atMost(
          what + " (other: /v1/sql)",
          BenchmarkTable.rate(medians.heap()),
          BenchmarkTable.rate(medians.engine()),
          medians.heap() / medians.engine(),
          1.1,
          "");
      BenchmarkTable.more(
          "processor time of the endpoint",
          BenchmarkTable.micros(used[0] / counts[0] * 1e6),
          BenchmarkTable.micros(used[1] / counts[1] * 1e6));
    }
  }

  private double loaded(
      Load.Source source, int connections, int side, double[] used, double[] counts)
      throws IOException, InterruptedException {
    double before = ServerProcesses.seconds(endpointPid);
    Load.Result result = Load.run(http.port(), source, connections, seconds);
    used[side] += ServerProcesses.seconds(endpointPid) - before;
    counts[side] += result.count();
    return result.rate();
  }

  // ---- processes ----

  private void messages(Session session) throws Exception {
    Procedure pass = session.procedure("pass", TypeOid.INT8);
    Procedure passed = session.procedure("passed");
    for (int i = 0; i < 3; i++) {
      rounds(pass, passed);
    }
    double used = ServerProcesses.seconds(endpointPid);
    double[] messages = {0};
    double nanos =
        turns.alone(() -> {
          messages[0] += ROUNDS * RING;
          return rounds(pass, passed) / (ROUNDS * RING);
        });
    used = ServerProcesses.seconds(endpointPid) - used;
    BenchmarkTable.atMost("message between 100,000 processes", "", nanos(nanos), nanos, 100, "ns");
    BenchmarkTable.more("processor time of a message", "", nanos(used / messages[0] * 1e9));
    TimeUnit.SECONDS.sleep(1); // what is measured is a time without messages
    double before = ServerProcesses.seconds(endpointPid);
    TimeUnit.MILLISECONDS.sleep((long) (IDLE_SECONDS * 1e3)); // this one
    double idle = (ServerProcesses.seconds(endpointPid) - before) / IDLE_SECONDS * 1e3;
    BenchmarkTable.atMost(
        "  idle, processor time a second", "", BenchmarkTable.millis(idle), idle, 10, "ms");
  }

  /// @return nanoseconds of one pass of all messages
  private static double rounds(Procedure pass, Procedure passed) {
    if (pass.run(ROUNDS) != 0) {
      throw new IllegalStateException("pass has given rows");
    }
    long end = System.nanoTime() + (long) (LONGEST_WAIT_SECONDS * 1e9);
    while (System.nanoTime() < end) {
      long nanos = number(passed);
      if (nanos > 0) {
        return nanos;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // nothing tells it
    }
    throw new IllegalStateException("messages do not come back");
  }
}
