package dev.kakehashi.benchmarks.standby;

import dev.kakehashi.benchmarks.SingleRowInserts;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.transport.TransportException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// One measurement of an endpoint or of two; `make bench-standby` runs it in turns, and makes the table of what is printed.
///
/// Arguments: an operation and its operands.
///
/// * `execute DIRECTORY STATEMENT...`
/// * `rate DIRECTORY CLIENTS SECONDS`: prints the stored single-row transactions a second.
/// * `lag DIRECTORY STANDBY CLIENTS SECONDS`: writes as fast as clients can. It prints median, 99th of 100 and maximum of milliseconds
///   from the end of a commit until a reader of the standby sees it.
/// * `first DIRECTORY`: prints the time, in milliseconds since 1970, when a commit there has succeeded.
public final class StandbyBenchmark {
  private static final long BEAT_NANOS = 2_000_000;

  private StandbyBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    List<String> operands = Arrays.asList(arguments).subList(1, arguments.length);
    AttachOptions options = options(operands.getFirst());
    switch (arguments[0]) {
      case "execute" -> execute(options, operands.subList(1, operands.size()));
      case "rate" -> {
        int clients = Integer.parseInt(operands.get(1));
        int seconds = Integer.parseInt(operands.get(2));
        System.out.printf(Locale.ROOT, "%.1f%n", inserts(options).rate(clients, seconds));
      }
      case "lag" ->
          lag(
              options,
              options(operands.get(1)),
              Integer.parseInt(operands.get(2)),
              Integer.parseInt(operands.get(3)));
      case "first" -> System.out.println(first(options));
      default -> throw new IllegalArgumentException("no operation \"" + arguments[0] + "\"");
    }
  }

  private static AttachOptions options(String runtimeDirectory) {
    return AttachOptions.of(Path.of(runtimeDirectory)).withApplicationName("standby benchmark");
  }

  private static void execute(AttachOptions options, List<String> statements) {
    try (Session session = Session.attach(options)) {
      statements.forEach(session::execute);
    }
  }

  private static SingleRowInserts inserts(AttachOptions options) {
    return new SingleRowInserts(options, "entry", new AtomicLong(nextId(options)));
  }

  private static long nextId(AttachOptions options) {
    try (Session session = Session.attach(options)) {
      return 1 + number(session, "SELECT coalesce(max(id), 0) FROM entry");
    }
  }

  private static long number(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql)) {
      return number(session, query);
    }
  }

  private static long number(Session session, PreparedStatement query) {
    try (Rows rows = session.query(query)) {
      if (!rows.next()) {
        throw new IllegalStateException("no row");
      }
      return rows.getLong(0);
    }
  }

  /// A commit whose end is known.
  private record Beat(long number, long committedNanos) {}

  private static void lag(AttachOptions options, AttachOptions standby, int clients, int seconds)
      throws Exception {
    SingleRowInserts inserts = inserts(options);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    ConcurrentLinkedQueue<Beat> beats = new ConcurrentLinkedQueue<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(clients + 2)) {
      List<Future<Long>> writers = inserts.start(threads, clients, end);
      Future<Long> beating = threads.submit(() -> beat(options, beats, end));
      Future<double[]> seen = threads.submit(() -> watch(standby, beats, beating));
      double[] lags = seen.get();
      Arrays.sort(lags);
      System.out.printf(
          Locale.ROOT,
          "%.1f %.1f %.1f %d %.0f%n",
          lags[lags.length / 2],
          lags[lags.length * 99 / 100],
          lags[lags.length - 1],
          lags.length,
          (double) SingleRowInserts.sum(writers) / seconds);
    }
  }

  private static long beat(AttachOptions options, ConcurrentLinkedQueue<Beat> beats, long end) {
    long number = 0;
    try (Session session = Session.attach(options);
        PreparedStatement update = session.prepare("UPDATE beat SET n = $1")) {
      session.execute("UPDATE beat SET n = 0");
      while (System.nanoTime() < end) {
        number++;
        session.update(update, update.parameters().addRow(number));
        beats.add(new Beat(number, System.nanoTime()));
        LockSupport.parkNanos(BEAT_NANOS);
      }
    }
    return number;
  }

  /// @return milliseconds of each commit that the standby has shown
  private static double[] watch(
      AttachOptions standby, ConcurrentLinkedQueue<Beat> beats, Future<Long> beating)
      throws Exception {
    List<Double> lags = new ArrayList<>();
    try (Session session = Session.attach(standby);
        PreparedStatement newest = session.prepare("SELECT n FROM beat")) {
      while (!beating.isDone() || !beats.isEmpty()) {
        long shown = number(session, newest);
        long now = System.nanoTime();
        // The standby may show a commit before its client is told.
        for (Beat beat = beats.peek();
            beat != null && beat.number() <= shown;
            beat = beats.peek()) {
          lags.add(Math.max(0, now - beat.committedNanos()) / 1e6);
          beats.remove();
        }
        LockSupport.parkNanos(BEAT_NANOS / 10);
      }
    }
    if (lags.isEmpty()) {
      throw new IllegalStateException("no commit was seen");
    }
    return lags.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static long first(AttachOptions options) {
    while (true) {
      try (Session session = Session.attach(options)) {
        session.execute("UPDATE beat SET n = -1");
        return System.currentTimeMillis();
      } catch (EndpointException | TransportException e) {
        // It is a standby yet, or sends its readers away.
        LockSupport.parkNanos(5 * BEAT_NANOS);
      }
    }
  }
}
