package dev.kakehashi.benchmarks;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Clients that insert one row in each transaction, which is stored when it is reported.
///
/// @param table of a key int8 and a value int4
/// @param next key; any thread takes it
public record SingleRowInserts(AttachOptions options, String table, AtomicLong next) {
  /// @return transactions a second
  public double rate(int clients, int seconds) throws InterruptedException, ExecutionException {
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(seconds);
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      return sum(start(threads, clients, end)) * 1e9 / (System.nanoTime() - began);
    }
  }

  /// @param threads has room for the clients
  /// @param end by [System#nanoTime()]
  /// @return what each will have inserted
  public List<Future<Long>> start(ExecutorService threads, int clients, long end) {
    List<Future<Long>> counts = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      counts.add(threads.submit(() -> insertUntil(end)));
    }
    return counts;
  }

  /// Waits for the clients.
  public static long sum(List<Future<Long>> counts)
      throws InterruptedException, ExecutionException {
    long sum = 0;
    for (Future<Long> count : counts) {
      sum += count.get();
    }
    return sum;
  }

  private long insertUntil(long end) {
    long count = 0;
    try (Session session = Session.attach(options);
        PreparedStatement insert = session.prepare("INSERT INTO " + table + " VALUES ($1, $2)")) {
      Parameters row = insert.parameters();
      while (System.nanoTime() < end) {
        row.reset();
        row.writer().addRow();
        row.writer().setLong(0, next.getAndIncrement());
        row.writer().setLong(1, count % 1000);
        count += session.update(insert, row);
      }
    }
    return count;
  }
}
