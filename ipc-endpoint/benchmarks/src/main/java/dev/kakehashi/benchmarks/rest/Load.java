package dev.kakehashi.benchmarks.rest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Requests of one kind over connections that stay open, each sent when the one before is answered.
///
/// @param port of the service
/// @param requests makes the requests of a connection
public record Load(int port, Requests requests) {
  private static final long LONGEST_NANOS = 10_000_000_000L;

  /// Requests of one connection.
  @FunctionalInterface
  public interface Requests {
    /// The next; may be the same array with other bytes.
    byte[] next();
  }

  /// Made for each connection.
  @FunctionalInterface
  public interface Source {
    Requests open();
  }

  /// Result of a run.
  ///
  /// @param rate answers per second
  public record Result(double rate, long count, Histogram nanos) {
    /// The time that a part of the answers did not exceed, in microseconds.
    public double micros(double percentile) {
      return nanos.getValueAtPercentile(percentile) / 1e3;
    }
  }

  /// @throws IOException also for another status than 200
  public static Result run(int port, Source source, int connections, double seconds)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    List<Future<Histogram>> parts = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(connections)) {
      for (int i = 0; i < connections; i++) {
        Load load = new Load(port, source.open());
        parts.add(threads.submit(() -> load.until(end)));
      }
      Histogram all = new Histogram(LONGEST_NANOS, 3);
      for (Future<Histogram> part : parts) {
        all.add(part.get());
      }
      long taken = Math.max(System.nanoTime() - began, TimeUnit.MILLISECONDS.toNanos(1));
      return new Result(all.getTotalCount() * 1e9 / taken, all.getTotalCount(), all);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }

  private Histogram until(long end) throws IOException {
    Histogram nanos = new Histogram(LONGEST_NANOS, 3);
    try (Wire wire = new Wire(port)) {
      long began = System.nanoTime();
      while (began < end) {
        wire.expect(200, requests.next());
        long now = System.nanoTime();
        nanos.recordValue(Math.min(now - began, LONGEST_NANOS));
        began = now;
      }
    }
    return nanos;
  }
}
