package dev.kakehashi.benchmarks.queue;

import com.sun.net.httpserver.HttpServer;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Starts of pushed tasks at a target in this process, by the second.
final class PushMeasure {
  private static final int RATE = 500;

  private final Path runtimeDirectory;
  private final int seconds;

  PushMeasure(Path runtimeDirectory, int seconds) {
    this.runtimeDirectory = runtimeDirectory;
    this.seconds = seconds;
  }

  /// Accuracy of the steady starts.
  ///
  /// @param rateError part by which the steady rate differs from the queue's
  /// @param lateMicros 99 % of the steady starts are not later than that after their time
  record Result(double rateError, double lateMicros) {}

  /// Pushes a backlog, with one size of the bucket.
  Result run(int bucket) throws Exception {
    int count = bucket + RATE * seconds;
    long[] starts = new long[count];
    AtomicInteger started = new AtomicInteger();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Session session = Session.attach(AttachOptions.of(runtimeDirectory))) {
      server.setExecutor(threads);
      server.createContext(
          "/",
          exchange -> {
            int at = started.getAndIncrement();
            if (at < count) {
              starts[at] = System.nanoTime();
            }
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
          });
      server.start();
      session.execute("DROP QUEUE IF EXISTS pushed");
      session.execute(
          "CREATE QUEUE pushed WITH (rate = '%d/s', bucket_size = %d)".formatted(RATE, bucket));
      session.execute(
          "ALTER QUEUE pushed PUSH TO 'http://127.0.0.1:" + server.getAddress().getPort() + "/'");
      // The bucket fills, and the client of pushes begins.
      LockSupport.parkNanos(2_000_000_000L);
      session.execute(
          "SELECT count(enqueue('pushed', to_jsonb(i))) FROM generate_series(1, " + count + ") i");
      while (started.get() < count) {
        LockSupport.parkNanos(10_000_000);
      }
      session.execute("DROP QUEUE pushed");
    } finally {
      server.stop(0);
    }
    Arrays.sort(starts);
    print(bucket, starts);
    return result(bucket, starts);
  }

  private static void print(int bucket, long[] starts) {
    StringBuilder line = new StringBuilder();
    int at = 0;
    for (int tenth = 1; at < starts.length && tenth <= 30; tenth++) {
      int before = at;
      while (at < starts.length && starts[at] - starts[0] < tenth * 100_000_000L) {
        at++;
      }
      line.append(' ').append(at - before);
    }
    System.out.printf(
        Locale.ROOT, "  bucket %d: starts in each tenth of a second:%s%n", bucket, line);
  }

  /// After the bucket is empty, task n starts at its time or later.
  private static Result result(int bucket, long[] starts) {
    int from = bucket + RATE;
    double nanosEach = 1e9 / RATE;
    double rate = (starts.length - 1 - from) / ((starts[starts.length - 1] - starts[from]) / 1e9);
    // The earliest schedule that no start is before.
    double begin = Double.MAX_VALUE;
    for (int i = from; i < starts.length; i++) {
      begin = Math.min(begin, starts[i] - (i - from) * nanosEach);
    }
    double[] late = new double[starts.length - from];
    for (int i = from; i < starts.length; i++) {
      late[i - from] = (starts[i] - begin - (i - from) * nanosEach) / 1e3;
    }
    Arrays.sort(late);
    return new Result(Math.abs(rate - RATE) / RATE, late[late.length * 99 / 100]);
  }
}
