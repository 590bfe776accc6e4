package dev.kakehashi.rest.job;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// A process that runs jobs under keys until it is killed, or all are done. Its commits are a ledger: a file of its own, whose lines are
/// durable before a commit returns. It prints what its clients have been told.
///
/// Arguments: directory, first key, number behind the last, seed.
final class CrashingJobs {
  static final String LEDGER = "ledger";

  private CrashingJobs() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int from = Integer.parseInt(arguments[1]);
    int to = Integer.parseInt(arguments[2]);
    Random random = new Random(Long.parseLong(arguments[3]));
    Set<String> committed = committed(directory);
    JobSettings defaults = JobSettings.defaults();
    JobSettings settings =
        new JobSettings(
            defaults.retention(),
            defaults.keyRetention(),
            100_000,
            50_000,
            4,
            50_000,
            20_000,
            1L << 30,
            1L << 30,
            1L << 20);
    try (RandomAccessFile ledger = new RandomAccessFile(directory.resolve(LEDGER).toFile(), "rw");
        Jobs jobs =
            Jobs.open(
                directory.resolve("jobs"),
                settings,
                (owner, transaction) ->
                    committed.contains(transaction)
                        ? OutcomeLookup.Outcome.COMMITTED
                        : OutcomeLookup.Outcome.ROLLED_BACK);
        ExecutorService clients = Executors.newFixedThreadPool(3)) {
      ledger.setLength(wholeLines(directory));
      ledger.seek(ledger.length());
      say("open");
      for (int i = from; i < to; i++) {
        int number = i;
        long seed = random.nextLong();
        clients.execute(() -> request(jobs, ledger, number, seed));
      }
    }
    say("end");
  }

  /// As a client that repeats each request until it is answered.
  private static void request(Jobs jobs, RandomAccessFile ledger, int number, long seed) {
    String key = "key " + number;
    KeyedRequest request = TestJobs.key("alice", key, key);
    Work work = new Work(ledger, number, new Random(seed));
    JobRecord job = jobs.submit("alice", key, work, request).job();
    job = jobs.await(TestJobs.ALICE, job.token(), Duration.ofMinutes(1)).orElseThrow();
    if (job.state() == JobState.SUCCEEDED) {
      String file = job.files().isEmpty() ? "-" : job.files().getFirst().sha256();
      say("told " + number + " " + job.token() + " " + job.result() + " " + file);
    } else {
      say("failed " + number + " " + job.state() + " " + job.failure());
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /// Transactions in the ledger.
  static Set<String> committed(Path directory) throws IOException {
    Set<String> committed = new HashSet<>();
    for (String line : lines(directory)) {
      committed.add(line.substring(line.indexOf(' ') + 1));
    }
    return committed;
  }

  /// Keys in the ledger, once for each commit.
  static List<Integer> keys(Path directory) throws IOException {
    List<Integer> keys = new ArrayList<>();
    for (String line : lines(directory)) {
      keys.add(Integer.parseInt(line, 0, line.indexOf(' '), 10));
    }
    return keys;
  }

  private static List<String> lines(Path directory) throws IOException {
    Path ledger = directory.resolve(LEDGER);
    if (Files.notExists(ledger)) {
      return List.of();
    }
    String text = Files.readString(ledger, StandardCharsets.US_ASCII);
    int end = text.lastIndexOf('\n');
    return end < 0 ? List.of() : text.substring(0, end).lines().toList();
  }

  /// Bytes up to the end of the last line that is whole.
  private static long wholeLines(Path directory) throws IOException {
    long bytes = 0;
    for (String line : lines(directory)) {
      bytes += line.length() + 1;
    }
    return bytes;
  }

  private record Work(RandomAccessFile ledger, int number, Random random) implements JobWork {
    @Override
    public void run(JobContext context) throws IOException {
      byte[] content = new byte[random.nextInt(60_000)];
      random.nextBytes(content);
      try (ResultFile file = context.open("application/octet-stream", "", "bin")) {
        file.write(content, 0, content.length);
        file.publish();
      }
      String transaction = UUID.randomUUID().toString();
      context.recordTransaction(transaction);
      synchronized (ledger) {
        ledger.write((number + " " + transaction + "\n").getBytes(StandardCharsets.US_ASCII));
        ledger.getFD().sync();
      }
    }

    @Override
    public void cancel() {}
  }
}
