package dev.kakehashi.benchmarks.bulk;

import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.EndpointException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// How long a load or a dump goes on after it was canceled in the middle.
///
/// @param times that each is canceled
record CopyCancels(BulkCopies copies, int times) {
  private static final String CANCELED = "57014";
  private static final double MOST_MILLIS = 50;

  /// Part of the duration of one copy, which varies: the cancel comes within it.
  private static final double PART = 0.7;

  void run() throws InterruptedException, ExecutionException {
    long seed = Long.getLong("bench.seed", System.nanoTime());
    BulkReport.note("seed of the cancels", Long.toString(seed));
    Random random = new Random(seed);
    String csv = "format csv, header true";
    load("CSV load", "rows.csv", csv, random);
    load("CSV load in batches", "rows.csv", csv + ", batch_rows 100000", random);
    load("Parquet load", "rows.parquet", "format parquet", random);
    load("Arrow load", "rows.arrow", "format arrow", random);
    dump("CSV dump", "canceled.csv", csv, random);
    dump("Parquet dump", "canceled.parquet", "format parquet", random);
    dump("Arrow dump", "canceled.arrow", "format arrow", random);
  }

  private void load(String what, String file, String options, Random random)
      throws InterruptedException, ExecutionException {
    double whole = copies.load(file, options);
    measure(what, random, whole, BulkCopies.from("copies", options), file);
  }

  private void dump(String what, String file, String options, Random random)
      throws InterruptedException, ExecutionException {
    double whole = copies.dump(file, options);
    measure(what, random, whole, BulkCopies.to("orders", options), file);
  }

  private void measure(
      String what, Random random, double wholeSeconds, CopyCommand command, String file)
      throws InterruptedException, ExecutionException {
    List<Double> millis = new ArrayList<>();
    try (ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor()) {
      for (int i = 0; i < times; i++) {
        if (command.isLoad()) {
          copies.session().execute("TRUNCATE copies");
        }
        Bulk bulk = Bulk.of(copies.session());
        long afterNanos = (long) (random.nextDouble() * PART * wholeSeconds * 1e9);
        Future<Long> canceled =
            later.schedule(
                () -> {
                  long now = System.nanoTime();
                  bulk.cancel();
                  return now;
                },
                afterNanos,
                TimeUnit.NANOSECONDS);
        boolean whole = copy(bulk, command, file);
        long ended = System.nanoTime();
        double late = (ended - canceled.get()) / 1e6;
        if (!whole) {
          millis.add(late);
        }
      }
    }
    if (millis.isEmpty()) {
      BulkReport.note(what + ": always ended before it was canceled", "");
      return;
    }
    Collections.sort(millis);
    double median = millis.get(millis.size() / 2);
    double most = millis.getLast();
    BulkReport.atMost(
        "%s canceled %d times: median, longest in ms".formatted(what, millis.size()),
        "",
        BenchmarkTable.millis(median),
        most,
        MOST_MILLIS);
  }

  /// Whether it came to its end before the cancel.
  private static boolean copy(Bulk bulk, CopyCommand command, String file) {
    try {
      if (command.isLoad()) {
        bulk.load(command, BulkCopies.place(file));
      } else {
        bulk.dump(command, BulkCopies.place(file));
      }
      return true;
    } catch (EndpointException e) {
      if (!e.sqlstate().equals(CANCELED)) {
        throw e;
      }
      return false;
    }
  }
}
