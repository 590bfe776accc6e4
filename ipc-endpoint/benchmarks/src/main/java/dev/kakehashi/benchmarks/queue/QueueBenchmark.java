package dev.kakehashi.benchmarks.queue;

import dev.kakehashi.benchmarks.engine.BenchmarkRows;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/// The queue against others, measure by measure, all of them taking turns in one run.
///
/// `make bench-queue` runs it. Arguments: the endpoint's runtime directory and process, the JDBC URL of PostgreSQL, the ports of beanstalkd
/// and of NATS, the directory of Node's scripts; then the rows of the table that are wanted.
public final class QueueBenchmark {
  private static final List<String> ROWS =
      List.of(
          "life",
          "batches",
          "latency",
          "consumers",
          "snapshot",
          "backlog",
          "keys",
          "polls",
          "push",
          "kill",
          "local");
  private static final int CLIENTS = 8;
  private static final int BATCH = 100;

  private final Path runtimeDirectory;
  private final long endpointPid;
  private final String url;
  private final List<Measured> others = new ArrayList<>();
  private final Pulled ours;
  private final int turns = Integer.getInteger("bench.repetitions", 3);
  private final double seconds = Integer.getInteger("bench.seconds", 3);
  private final double warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 20);
  private final int latencies = Integer.getInteger("bench.latencies", 500);
  private final double heldSeconds = Integer.getInteger("bench.heldSeconds", 60);
  private final long backlog = Long.getLong("bench.backlog", 1_000_000);

  private QueueBenchmark(List<String> arguments) {
    runtimeDirectory = Path.of(arguments.get(0));
    endpointPid = Long.parseLong(arguments.get(1));
    url = arguments.get(2);
    Path scripts = Path.of(arguments.get(5));
    String ofNode = url.substring("jdbc:".length());
    others.add(new Pulled(new HeapPeer(HeapPeer.Kind.deleting(), url)));
    others.add(new Pulled(new HeapPeer(HeapPeer.Kind.stateful(), url)));
    others.add(new Pulled(new HeapPeer(HeapPeer.Kind.visibility(), url)));
    others.add(new Pulled(new PgqPeer(url)));
    others.add(new DbSchedulerMeasure(url));
    others.add(new NodeMeasure("graphile-worker 0.18", scripts.resolve("graphile.mjs"), ofNode));
    others.add(new NodeMeasure("pg-boss 12.38", scripts.resolve("pgboss.mjs"), ofNode));
    others.add(new Pulled(new BeanstalkPeer(Integer.parseInt(arguments.get(3)))));
    others.add(new Pulled(new NatsPeer(Integer.parseInt(arguments.get(4)))));
    String only = System.getProperty("bench.only", "");
    others.removeIf(each -> !each.name().contains(only));
    ours = new Pulled(new KakehashiPeer(runtimeDirectory));
  }

  public static void main(String[] arguments) throws Exception {
    List<String> all = Arrays.asList(arguments);
    List<String> wanted = all.subList(6, all.size());
    BenchmarkRows.require(ROWS, wanted);
    try {
      new QueueBenchmark(all).run(wanted);
    } catch (Exception | Error e) {
      // Clients of the others leave threads behind.
      e.printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }

  private void run(List<String> wanted) throws Exception {
    if (Boolean.getBoolean("bench.othersOnly")) {
      othersOnly();
      return;
    }
    for (String row : wanted) {
      switch (row) {
        case "life" -> life("one by one, 8 + 8 clients", 1, 20_000, 3);
        case "batches" -> life("in batches of 100, 8 + 8 clients", BATCH, 100_000, 5);
        case "latency" -> latency();
        case "consumers" -> consumers();
        case "snapshot" -> snapshot();
        case "backlog" -> backlog();
        case "keys" -> keys();
        case "push" -> push();
        case "kill" -> kill();
        case "local" -> local();
        default -> polls();
      }
    }
  }

  /// For who wants to see that the others work.
  private void othersOnly() throws Exception {
    for (Measured each : others) {
      double rate = each.life(CLIENTS, clients(each), 1, seconds);
      double batches = each.life(CLIENTS, clients(each), BATCH, seconds);
      double[] micros = each.latencies(latencies);
      System.out.printf(
          Locale.ROOT,
          "%-45s %,9.0f/s %,9.0f/s p50 %,8.0f us p99 %,8.0f us%n",
          each.name(),
          rate,
          batches,
          micros[micros.length / 2],
          micros[micros.length * 99 / 100]);
    }
  }

  private static int clients(Measured of) {
    return of.name().startsWith("PgQ") ? 1 : CLIENTS;
  }

  /// Whole lives, all in turn.
  private void life(String what, int batch, double least, double times) throws Exception {
    List<Measured> all = new ArrayList<>(others);
    all.add(ours);
    Map<Measured, List<Double>> rates = new HashMap<>();
    ours.life(CLIENTS, CLIENTS, batch, warmUpSeconds);
    double endpointMicros = 0;
    double clientMicros = 0;
    for (int turn = 0; turn < turns; turn++) {
      for (Measured each : all) {
        double endpoint = processorMillis();
        double client = ownProcessorMillis();
        rates
            .computeIfAbsent(each, one -> new ArrayList<>())
            .add(each.life(CLIENTS, clients(each), batch, seconds));
        if (each.equals(ours)) {
          endpointMicros = 1e3 * (processorMillis() - endpoint) / ours.lives();
          clientMicros = 1e3 * (ownProcessorMillis() - client) / ours.lives();
        }
      }
    }
    double best = 0;
    System.out.println("whole life, " + what);
    for (Measured each : all) {
      double rate = median(rates.getOrDefault(each, List.of()));
      best = each.skipLocked() ? Math.max(best, rate) : best;
      System.out.printf(Locale.ROOT, "  %-45s %,10.0f/s%n", each.name(), rate);
    }
    System.out.printf(
        Locale.ROOT,
        "  %-45s %.1f us in the endpoint, %.1f us in the clients%n",
        "processor time of a life, last turn",
        endpointMicros,
        clientMicros);
    double rate = median(rates.getOrDefault(ours, List.of()));
    goal("rate", rate, least, true, "/s");
    goal("times the best SKIP LOCKED", rate / best, times, true, "");
  }

  private void latency() throws Exception {
    System.out.println("enqueue to the handler's start, idle, p50 and p99");
    List<Measured> all = new ArrayList<>(others);
    all.add(ours);
    for (Measured each : all) {
      double[] micros = each.latencies(latencies);
      double half = micros[micros.length / 2];
      double most = micros[micros.length * 99 / 100];
      System.out.printf(Locale.ROOT, "  %-45s %,9.0f us %,9.0f us%n", each.name(), half, most);
      if (each.name().equals(ours.name())) {
        goal("p50", half, 250, false, " us");
        goal("p99", most, 2_000, false, " us");
      }
    }
  }

  private void consumers() throws Exception {
    System.out.println("consumers, 8 producers, one by one");
    double before = 0;
    for (int count : new int[] {1, 16, 256}) {
      double rate = ours.life(CLIENTS, count, 1, seconds);
      System.out.printf(Locale.ROOT, "  %-45d %,10.0f/s%n", count, rate);
      if (count > 1) {
        goal("times the rate of fewer", rate / before, 0.95, true, "");
      }
      before = rate;
    }
  }

  /// Beside a snapshot of PostgreSQL and one of the engine.
  private void snapshot() throws Exception {
    System.out.printf(Locale.ROOT, "beside held snapshots, %.0f s%n", heldSeconds);
    Measured table = new Pulled(new HeapPeer(HeapPeer.Kind.stateful(), url));
    double tableAlone = table.life(CLIENTS, CLIENTS, 1, heldSeconds / 3);
    double alone = ours.life(CLIENTS, CLIENTS, 1, heldSeconds / 3);
    try (Connection holder = DriverManager.getConnection(url);
        Statement statement = holder.createStatement();
        Session session = Session.attach(AttachOptions.of(runtimeDirectory));
        Transaction reader = session.begin(TransactionOptions.READ_ONLY)) {
      holder.setAutoCommit(false);
      statement.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      statement.execute("SELECT 1");
      try (PreparedStatement one = session.prepare("SELECT 1")) {
        reader.query(one).close();
      }
      double held = ours.life(CLIENTS, CLIENTS, 1, heldSeconds);
      double tableHeld = table.life(CLIENTS, CLIENTS, 1, heldSeconds);
      System.out.printf(Locale.ROOT, "  %-45s %,10.0f/s %,10.0f/s%n", ours.name(), alone, held);
      System.out.printf(
          Locale.ROOT, "  %-45s %,10.0f/s %,10.0f/s%n", table.name(), tableAlone, tableHeld);
      goal("of the rate without", held / alone, 0.95, true, "");
      holder.rollback();
    }
  }

  /// The rate with a backlog, each ten times as long as the one before.
  private void backlog() throws Exception {
    System.out.println("rate by backlog, 8 + 8 clients, one by one");
    KakehashiPeer peer = new KakehashiPeer(runtimeDirectory);
    List<Double> rates = new ArrayList<>();
    for (long tasks = 10_000; tasks <= backlog; tasks *= 10) {
      peer.reset();
      try (QueuePeer.Producer producer = peer.producer()) {
        for (long left = tasks; left > 0; left -= 10_000) {
          producer.enqueue(10_000);
        }
      }
      double rate = new Pulled(new Kept(peer)).life(CLIENTS, CLIENTS, 1, seconds);
      rates.add(rate);
      System.out.printf(
          Locale.ROOT, "  %,-45d %,10.0f/s  resident %,d MB%n", tasks, rate, residentBytes() >> 20);
    }
    double least = Collections.min(rates) / median(rates);
    goal("least of the median", least, 0.8, true, "");
  }

  private void keys() throws Exception {
    System.out.println("keys, 8 + 8 clients, batches of 100");
    double plain = ours.life(CLIENTS, CLIENTS, BATCH, seconds);
    double keyed =
        new Pulled(
                new KakehashiPeer(
                    runtimeDirectory,
                    "WITH (\"order\" = 'key')",
                    ", key => (:number * 7919 % 100000)::text"))
            .life(CLIENTS, CLIENTS, BATCH, seconds);
    double fair =
        new Pulled(
                new KakehashiPeer(runtimeDirectory, "", ", fair => (:number * 7919 % 10000)::text"))
            .life(CLIENTS, CLIENTS, BATCH, seconds);
    System.out.printf(Locale.ROOT, "  %-45s %,10.0f/s%n", "plain", plain);
    System.out.printf(Locale.ROOT, "  %-45s %,10.0f/s%n", "100,000 FIFO keys", keyed);
    System.out.printf(Locale.ROOT, "  %-45s %,10.0f/s%n", "10,000 fair keys", fair);
    goal("FIFO keys of plain", keyed / plain, 0.8, true, "");
    goal("fair keys of plain", fair / plain, 0.8, true, "");
  }

  private void push() throws Exception {
    System.out.println("push at 500/s");
    for (int bucket : new int[] {500, 100}) {
      PushMeasure.Result result = new PushMeasure(runtimeDirectory, 10).run(bucket);
      goal("rate error, per cent, bucket " + bucket, 100 * result.rateError(), 1, false, " %");
      goal("lateness p99, bucket " + bucket, result.lateMicros() / 1e3, 5, false, " ms");
    }
  }

  private void kill() throws Exception {
    System.out.println("kill -9 of a consumer to the next one's start");
    double[] millis = KilledConsumer.millis(runtimeDirectory, 11);
    goal("median", millis[millis.length / 2], 10, false, " ms");
    System.out.printf(Locale.ROOT, "  longest %.1f ms%n", millis[millis.length - 1]);
  }

  private void local() throws Exception {
    System.out.println("enqueue with a local row of PostgreSQL, transactions a second");
    new KakehashiPeer(runtimeDirectory).reset();
    HeapPeer heap = new HeapPeer(HeapPeer.Kind.visibility(), url);
    heap.reset();
    LocalRows rows = new LocalRows(url, seconds);
    rows.prepare(runtimeDirectory.toString());
    for (int clients : new int[] {1, 8}) {
      List<Double> table = new ArrayList<>();
      List<Double> queue = new ArrayList<>();
      for (int turn = 0; turn < turns; turn++) {
        table.add(
            rows.rate(
                "INSERT INTO q_visible (vt, message) VALUES (clock_timestamp(), '1')", clients));
        queue.add(rows.rate("SELECT kakehashi_enqueue('kakehashi', 'bench', '1'::jsonb)", clients));
      }
      System.out.printf(
          Locale.ROOT,
          "  %d clients: %,.0f/s in pgmq's shape, %,.0f/s in the queue%n",
          clients,
          median(table),
          median(queue));
      goal(
          "of pgmq's shape, " + clients + " clients",
          median(queue) / median(table),
          clients == 1 ? 0.4 : 0.7,
          true,
          "");
    }
  }

  /// Processor time of the endpoint beside consumers that wait.
  private void polls() throws Exception {
    KakehashiPeer peer = new KakehashiPeer(runtimeDirectory);
    peer.reset();
    int waiting = 1_000;
    List<Session> sessions = new ArrayList<>();
    // Platform threads: a waiting client blocks its thread in the kernel.
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (int i = 0; i < waiting; i++) {
        Session session =
            Session.attach(
                AttachOptions.of(runtimeDirectory).withApplicationName("queue benchmark"));
        sessions.add(session);
        threads.execute(
            () -> session.execute("SELECT token FROM receive('bench', wait => '30 s')"));
      }
      LockSupport.parkNanos(3_000_000_000L);
      double before = processorMillis();
      long began = System.nanoTime();
      LockSupport.parkNanos(10_000_000_000L);
      double each = (processorMillis() - before) / ((System.nanoTime() - began) / 1e9);
      goal("1,000 idle long polls, ms of processor time a second", each, 2, false, " ms");
    } finally {
      sessions.forEach(Session::close);
    }
  }

  /// A queue that keeps what it has.
  private record Kept(KakehashiPeer peer) implements QueuePeer {
    @Override
    public String name() {
      return peer.name();
    }

    @Override
    public boolean skipLocked() {
      return false;
    }

    @Override
    public void reset() {}

    @Override
    public Producer producer() {
      return peer.producer();
    }

    @Override
    public Consumer consumer() {
      return peer.consumer();
    }
  }

  private double processorMillis() throws Exception {
    return endpointPid == 0 ? 0 : processorMillis("/proc/" + endpointPid + "/stat");
  }

  private static double ownProcessorMillis() throws Exception {
    return processorMillis("/proc/self/stat");
  }

  private static double processorMillis(String file) throws Exception {
    String stat = Files.readString(Path.of(file));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10.0;
  }

  private long residentBytes() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/" + endpointPid + "/status"))) {
      if (line.startsWith("VmRSS")) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    throw new IllegalStateException("no VmRSS");
  }

  private static void goal(
      String what, double measured, double goal, boolean atLeast, String unit) {
    boolean met = atLeast ? measured >= goal : measured <= goal;
    System.out.printf(
        Locale.ROOT,
        "  %-55s %,12.2f%s  %s %,.2f%s  %s%n",
        what,
        measured,
        unit,
        atLeast ? ">=" : "<=",
        goal,
        unit,
        BenchmarkTable.met(met));
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }
}
