package dev.kakehashi.benchmarks.queue;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// db-scheduler, which runs handlers on threads of its own; with its polling strategy that is documented as the fastest.
final class DbSchedulerMeasure implements Measured {
  private static final int MAX_BACKLOG = 5_000;

  private final String url;

  DbSchedulerMeasure(String url) {
    this.url = url;
  }

  @Override
  public String name() {
    return "db-scheduler, lock and fetch";
  }

  @Override
  public boolean skipLocked() {
    return true;
  }

  private HikariDataSource open(int connections) throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(connections);
    HikariDataSource source = new HikariDataSource(config);
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS scheduled_tasks");
      statement.execute(
          "CREATE TABLE scheduled_tasks (task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,"
              + " execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text, last_success timestamptz,"
              + " last_failure timestamptz, consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL,"
              + " priority smallint, PRIMARY KEY (task_name, task_instance))");
      statement.execute("CREATE INDEX ON scheduled_tasks (execution_time)");
      statement.execute("CREATE INDEX ON scheduled_tasks (last_heartbeat)");
    }
    return source;
  }

  private static Scheduler scheduler(
      HikariDataSource source, OneTimeTask<Void> task, int consumers) {
    return Scheduler.create(source, task)
        .threads(consumers)
        .pollUsingLockAndFetch(2, 4)
        .pollingInterval(Duration.ofMillis(10))
        .shutdownMaxWait(Duration.ofSeconds(5))
        .build();
  }

  @Override
  public double life(int producers, int consumers, int batch, double seconds) throws Exception {
    AtomicLong done = new AtomicLong();
    AtomicLong made = new AtomicLong();
    OneTimeTask<Void> task =
        Tasks.oneTime("bench").execute((instance, context) -> done.incrementAndGet());
    try (HikariDataSource source = open(producers + consumers + 2)) {
      Scheduler scheduler = scheduler(source, task, consumers);
      scheduler.start();
      long warm = System.nanoTime() + (long) (seconds * 1e9 / 3);
      long end = warm + (long) (seconds * 1e9);
      double rate;
      try (ExecutorService threads = Executors.newFixedThreadPool(producers)) {
        for (int i = 0; i < producers; i++) {
          threads.execute(() -> {
            while (System.nanoTime() < end) {
              if (made.get() - done.get() > MAX_BACKLOG) {
                LockSupport.parkNanos(1_000_000);
              } else {
                scheduler.scheduleIfNotExists(
                    task.instance(Long.toString(made.incrementAndGet())), Instant.now());
              }
            }
          });
        }
        LockSupport.parkNanos(warm - System.nanoTime());
        long before = done.get();
        LockSupport.parkNanos(end - System.nanoTime());
        rate = (done.get() - before) / ((System.nanoTime() - warm) / 1e9);
      }
      scheduler.stop();
      return rate;
    }
  }

  @Override
  public double[] latencies(int count) throws Exception {
    double[] micros = new double[count];
    BlockingQueue<Long> starts = new ArrayBlockingQueue<>(1);
    OneTimeTask<Void> task =
        Tasks.oneTime("bench").execute((instance, context) -> starts.add(System.nanoTime()));
    try (HikariDataSource source = open(4)) {
      Scheduler scheduler = scheduler(source, task, 1);
      scheduler.start();
      for (int i = 0; i < count; i++) {
        long began = System.nanoTime();
        scheduler.scheduleIfNotExists(task.instance("l" + i), Instant.now());
        micros[i] = (starts.take() - began) / 1e3;
      }
      scheduler.stop();
    }
    Arrays.sort(micros);
    return micros;
  }
}
