package dev.kakehashi.benchmarks;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/// Measures the cost of a request that does nothing: append to the queue, poll, answer in the mailbox, see the answer.
///
/// Run against a running endpoint: `PingBenchmark RUNTIME_DIR [SECONDS]`. Three situations: both sides awake (the next request
/// follows at once), both sides asleep (a pause of 2 ms before each request, so each pays a wake-up), and attach with detach.
public final class PingBenchmark {
  private static final int WARM_UP = 50_000;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final int PAYLOAD_BYTES = 64;

  private PingBenchmark() {}

  public static void main(String[] arguments) {
    AttachOptions options =
        AttachOptions.of(Path.of(arguments[0])).withApplicationName("ping benchmark");
    long nanos =
        TimeUnit.SECONDS.toNanos(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3);
    byte[] payload = new byte[PAYLOAD_BYTES];
    try (Session session = Session.attach(options)) {
      for (int i = 0; i < WARM_UP; i++) {
        session.ping(payload);
      }
      print("round trip, both awake", measure(nanos, 0, () -> session.ping(payload)));
      print("round trip, both asleep", measure(nanos, PAUSE_NANOS, () -> session.ping(payload)));
    }
    print("attach and detach", measure(nanos, 0, () -> Session.attach(options).close()));
  }

  private static Histogram measure(long nanos, long pauseNanos, Runnable request) {
    var histogram = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
    long end = System.nanoTime() + nanos;
    long began = System.nanoTime();
    while (began < end) {
      if (pauseNanos > 0) {
        LockSupport.parkNanos(pauseNanos);
        began = System.nanoTime();
      }
      request.run();
      long now = System.nanoTime();
      histogram.recordValue(now - began);
      began = now;
    }
    return histogram;
  }

  private static void print(String what, Histogram histogram) {
    System.out.printf(
        Locale.ROOT,
        "%-28s p50 %8.1f us   p99 %8.1f us   max %9.1f us   n %,d%n",
        what,
        histogram.getValueAtPercentile(50) / 1e3,
        histogram.getValueAtPercentile(99) / 1e3,
        histogram.getMaxValue() / 1e3,
        histogram.getTotalCount());
  }
}
