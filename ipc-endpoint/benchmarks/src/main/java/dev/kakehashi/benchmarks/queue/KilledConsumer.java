package dev.kakehashi.benchmarks.queue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
        Process consumer =
            new ProcessBuilder(
                    List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path").replace(File.pathSeparator, ":"),
                        KilledConsumer.class.getName(),
                        runtimeDirectory.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
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
        Thread.sleep(200); // the second one waits
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
