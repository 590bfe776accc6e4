package dev.kakehashi.benchmarks.queue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/// Transactions of PostgreSQL with a local row and a task.
final class LocalRows {
  private final String url;
  private final double seconds;

  LocalRows(String url, double seconds) {
    this.url = url;
    this.seconds = seconds;
  }

  /// Makes the tables and the server, whose queue `bench` is there.
  void prepare(String runtimeDirectory) throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String sql :
          List.of(
              "DROP TABLE IF EXISTS local_rows",
              "CREATE TABLE local_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text)",
              "CREATE EXTENSION IF NOT EXISTS kakehashi_fdw",
              "DROP SERVER IF EXISTS kakehashi CASCADE",
              "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '"
                  + runtimeDirectory
                  + "')",
              "CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi")) {
        statement.execute(sql);
      }
    }
  }

  /// Transactions per second.
  ///
  /// @param enqueue a statement that makes a task
  double rate(String enqueue, int clients) throws Exception {
    AtomicLong count = new AtomicLong();
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        running.add(
            threads.submit(() -> {
              try (Connection connection = DriverManager.getConnection(url);
                  PreparedStatement row =
                      connection.prepareStatement("INSERT INTO local_rows (v) VALUES ('a')");
                  PreparedStatement task = connection.prepareStatement(enqueue)) {
                connection.setAutoCommit(false);
                while (System.nanoTime() < end) {
                  row.executeUpdate();
                  task.execute();
                  connection.commit();
                  count.incrementAndGet();
                }
              }
              return null;
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return count.get() / ((System.nanoTime() - began) / 1e9);
  }
}
