package dev.kakehashi.benchmarks.queue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Costs of a backlog: rate of claims, memory of the endpoint, time of its restart after an orderly end and after a kill. Prints a row for
/// each power of ten.
///
/// `java -cp kakehashi-benchmarks.jar:kakehashi-tools.jar dev.kakehashi.benchmarks.queue.BacklogMeasure
/// ENDPOINT_JAR JVM_OPTIONS DIRECTORY TASKS [delayed]`.
/// The directory is on the disk that is measured, and is new. With `delayed` all tasks are for later, evenly within a day, but for those
/// that are claimed.
public final class BacklogMeasure {
  private static final int BATCH = 1000;
  private static final int MOST_CLAIMS = 20_000;
  private static final String HEAP = System.getProperty("bench.heap", "256m");

  private final List<String> command = new ArrayList<>();
  private final Path runtime;
  private final boolean delayed;
  private @Nullable Process process;

  private BacklogMeasure(String jar, String jvmOptions, Path home, boolean delayed) {
    this.delayed = delayed;
    runtime = home.resolve("run");
    Collections.addAll(
        command,
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "@" + jvmOptions,
        "-Xmx" + HEAP,
        "-jar",
        jar,
        "start",
        "-D",
        home.resolve("data").toString(),
        "-R",
        runtime.toString(),
        "-s",
        "memory=64MB");
  }

  public static void main(String[] arguments) throws Exception {
    boolean delayed = arguments.length > 4 && arguments[4].equals("delayed");
    BacklogMeasure measure =
        new BacklogMeasure(arguments[0], arguments[1], Path.of(arguments[2]), delayed);
    measure.run(Long.parseLong(arguments[3]));
  }

  private void run(long most) throws Exception {
    System.out.println("endpoint with -Xmx" + HEAP + (delayed ? ", tasks for later" : ""));
    System.out.println("start without a queue: " + start() + " ms");
    try (Session session = attach()) {
      session.execute("create queue work");
    }
    long made = 0;
    for (long tasks = 10_000; tasks <= most; tasks *= 10) {
      int claims = (int) Math.min(MOST_CLAIMS, tasks / 2);
      long began = System.nanoTime();
      try (Session session = attach()) {
        fill(session, tasks - made - (delayed ? claims : 0), delayed);
        if (delayed) {
          fill(session, claims, false);
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        long rate = claim(session, claims);
        fill(session, claims, delayed);
        System.out.printf(
            "%,d tasks: %,.0f enqueued/s, %,d claimed and completed/s, %s%n",
            tasks, (tasks - made) / seconds, rate, memory());
        check(session, tasks);
      }
      made = tasks;
      stop(false);
      long orderly = start();
      String first = firstClaim(tasks);
      stop(true);
      System.out.printf(
          "  restart %,d ms, after a kill %,d ms; %s, %s%n", orderly, start(), first, memory());
    }
    stop(false);
  }

  private static void fill(Session session, long count, boolean later) {
    TaskQueue queue = session.queue("work");
    Instant now = Instant.now();
    List<TaskDraft> batch = new ArrayList<>(BATCH);
    for (long at = 0; at < count; at++) {
      TaskDraft task = TaskDraft.ofJson("{\"n\":" + at + "}");
      batch.add(later ? task.withRunAt(now.plusSeconds(3600 + at * 7919 % 82_800)) : task);
      if (batch.size() == BATCH || at == count - 1) {
        queue.enqueue(null, batch);
        batch.clear();
      }
    }
  }

  /// @return tasks that were claimed and completed in a second, one hundred at a time
  private static long claim(Session session, int claims) {
    TaskQueue queue = session.queue("work");
    long began = System.nanoTime();
    List<QueueTask> done = List.of();
    for (int count = 0; count < claims; count += done.size()) {
      done = queue.completeAndReceive(done, 100, Duration.ofSeconds(20));
    }
    queue.complete(null, done);
    return (long) (claims / ((System.nanoTime() - began) / 1e9));
  }

  private String firstClaim(long tasks) {
    try (Session session = attach()) {
      check(session, tasks);
      long began = System.nanoTime();
      int got = session.queue("work").receive(1, Duration.ZERO).size();
      return got + " task received in " + (System.nanoTime() - began) / 1_000_000 + " ms";
    }
  }

  private static void check(Session session, long tasks) {
    try (PreparedStatement select =
            session.prepare("select ready + delayed from kakehashi_catalog.queues");
        Rows rows = session.query(select)) {
      if (!rows.next() || rows.getLong(0) != tasks) {
        throw new IllegalStateException("not " + tasks + " tasks, but " + rows.getLong(0));
      }
    }
  }

  private Session attach() {
    return Session.attach(AttachOptions.of(runtime));
  }

  private Process running() {
    return java.util.Objects.requireNonNull(process);
  }

  /// Resident memory of the endpoint: anonymous, and of files.
  private String memory() throws IOException {
    StringBuilder result = new StringBuilder();
    for (String line : Files.readAllLines(Path.of("/proc/" + running().pid() + "/status"))) {
      if (line.startsWith("RssAnon") || line.startsWith("RssFile")) {
        String[] words = line.split("\\s+", -1);
        result.append(words[0]).append(' ').append(Long.parseLong(words[1]) / 1024).append(" MB ");
      }
    }
    return result.toString().strip();
  }

  /// @return milliseconds until clients can attach
  private long start() throws IOException {
    long began = System.nanoTime();
    Process started =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    process = started;
    BufferedReader lines = started.inputReader(StandardCharsets.UTF_8);
    for (String line = lines.readLine(); !"ready".equals(line); line = lines.readLine()) {
      if (line == null) {
        throw new IllegalStateException("the endpoint did not start");
      }
    }
    return (System.nanoTime() - began) / 1_000_000;
  }

  private void stop(boolean kill) throws InterruptedException {
    Process now = running();
    if (kill) {
      now.toHandle().destroyForcibly();
    } else {
      now.toHandle().destroy();
    }
    if (!now.waitFor(120, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the endpoint did not end");
    }
  }
}
