package dev.kakehashi.benchmarks.queue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// How soon a task is handed out again when its consumer's process is killed.
public final class KilledConsumer {
  private static final String TAKE = "SELECT task_id FROM receive('killed', wait => '60 s')";

  private KilledConsumer() {}

  /// A consumer that takes a task, says so, and waits to be killed.
  public static void main(String[] arguments) throws Exception {
    try (Session session = Session.attach(AttachOptions.of(Path.of(arguments[0])))) {
      take(session);
      System.out.println("taken");
      Thread.currentThread().join();
    }
  }

  private static void take(Session session) {
    try (PreparedStatement statement = session.prepare(TAKE);
        Rows rows = session.query(statement)) {
      if (!rows.next()) {
        throw new IllegalStateException("no task came");
      }
    }
  }

  /// With the options of this JVM, which the client needs.
  private static Process begin(Path runtimeDirectory) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            KilledConsumer.class.getName(),
            runtimeDirectory.toString()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /// Returns when a consumer waits.
  private static void awaitWaiting(Session session) {
    try (PreparedStatement statement =
        session.prepare(
            "SELECT waiting FROM kakehashi_catalog.queues WHERE queue_name = 'killed'")) {
      long waiting = 0;
      while (waiting == 0) {
        try (Rows rows = session.query(statement)) {
          rows.next();
          waiting = rows.getLong(0);
        }
      }
    }
  }

  /// Kills consumers.
  ///
  /// @return milliseconds from the kill to the next consumer's start, sorted
  static double[] millis(Path runtimeDirectory, int rounds) throws Exception {
    double[] millis = new double[rounds];
    try (Session session = Session.attach(AttachOptions.of(runtimeDirectory));
        Session waiting = Session.attach(AttachOptions.of(runtimeDirectory));
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      for (int i = 0; i < rounds; i++) {
        session.execute("DROP QUEUE IF EXISTS killed");
        session.execute("CREATE QUEUE killed WITH (min_backoff = '0 s')");
        Process consumer = begin(runtimeDirectory);
        session.execute("SELECT enqueue('killed', '1'::jsonb)");
        byte[] said = consumer.getInputStream().readNBytes("taken".length());
        if (!new String(said, StandardCharsets.US_ASCII).equals("taken")) {
          throw new IllegalStateException("the consumer has ended");
        }
        Future<Long> again =
            thread.submit(() -> {
              take(waiting);
              return System.nanoTime();
            });
        awaitWaiting(session);
        long killed = System.nanoTime();
        consumer.destroyForcibly();
        millis[i] = (again.get() - killed) / 1e6;
        consumer.waitFor();
      }
    }
    Arrays.sort(millis);
    return millis;
  }
}
