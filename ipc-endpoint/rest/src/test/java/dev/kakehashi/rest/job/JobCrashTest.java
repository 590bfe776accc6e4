package dev.kakehashi.rest.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Kills a process that runs jobs under keys, again and again, and repeats their requests: each takes effect once, and what a client was
/// told holds. More kills with `-Dkakehashi.kills=200`.
class JobCrashTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 4);
  private static final int KEYS_PER_KILL = 40;

  /// New ones, and some of the runs before.
  private static final int KEYS_OF_RUN = 3 * KEYS_PER_KILL;

  @TempDir Path directory;

  /// Answers to clients: key, to token and digest.
  private final Map<Integer, String> told = new HashMap<>();

  private int kills;

  @Test
  @Timeout(1200)
  void shouldTakeEffectOnceWheneverItIsKilled() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int keys = KEYS_PER_KILL;
    for (int i = 0; i < KILLS; i++) {
      // A whole run of these keys takes some hundred milliseconds.
      run(Math.max(0, keys - KEYS_OF_RUN), keys, random.nextLong(), random.nextInt(400));
      keys += KEYS_PER_KILL;
    }
    run(0, keys, random.nextLong(), -1);

    List<Integer> committed = CrashingJobs.keys(directory);
    assertEquals(keys, committed.size(), "seed " + seed);
    assertEquals(keys, new TreeSet<>(committed).size(), "seed " + seed);
    assertTrue(kills > 0, "it was never killed in its work");
    checkResults(keys);
  }

  /// @param killAfterMillis since it has begun its work; less than 0: it comes to its end
  private void run(int from, int to, long seed, int killAfterMillis) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                CrashingJobs.class.getName(),
                directory.toString(),
                Integer.toString(from),
                Integer.toString(to),
                Long.toString(seed))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = out.readLine();
      while (line != null && !line.equals("open")) {
        line = out.readLine(); // of the log
      }
      assertEquals("open", line);
      Thread killer = Thread.ofVirtual().unstarted(() -> kill(process, killAfterMillis));
      if (killAfterMillis >= 0) {
        killer.start();
      }
      for (line = out.readLine(); line != null; line = out.readLine()) {
        hear(line);
      }
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
      killer.join();
      if (killAfterMillis < 0) {
        assertEquals(0, process.exitValue());
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private void kill(Process process, int afterMillis) {
    try {
      if (!process.waitFor(afterMillis, TimeUnit.MILLISECONDS)) {
        kills++;
        // Not by the process, which would close what it has said.
        process.toHandle().destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hear(String line) {
    assertFalse(line.startsWith("failed"), line);
    if (line.startsWith("told")) {
      String[] parts = line.split(" ", 3);
      // The same, however often it is asked for.
      String before = told.put(Integer.parseInt(parts[1]), parts[2]);
      assertTrue(before == null || before.equals(parts[2]), before + " then " + parts[2]);
    }
  }

  private void checkResults(int keys) throws IOException {
    assertEquals(keys, told.size());
    Path jobsDirectory = directory.resolve("jobs");
    int whole = 0;
    List<Long> files = new ArrayList<>();
    try (Jobs jobs =
        Jobs.open(
            jobsDirectory,
            JobSettings.defaults(),
            (owner, transaction) -> OutcomeLookup.Outcome.UNKNOWN)) {
      for (String each : told.values()) {
        String[] parts = each.split(" ", -1);
        JobRecord job = jobs.find(TestJobs.ALICE, parts[0]).orElseThrow();
        assertEquals(JobState.SUCCEEDED, job.state());
        assertEquals(parts[1], job.result().name());
        if (job.result() == ResultState.AVAILABLE) {
          try (FileHold hold = jobs.openFile(TestJobs.ALICE, job.token(), 1).orElseThrow()) {
            byte[] digest = Sha256.begin().digest(TestJobs.readAll(hold));
            assertEquals(parts[2], HexFormat.of().formatHex(digest));
          }
          files.addAll(ResultFiles.ids(job.files()));
          whole++;
        }
      }
      try (Stream<Path> found = Files.list(jobsDirectory.resolve("results"))) {
        assertEquals(files.size(), found.count());
      }
    }
    assertTrue(whole >= keys - 4 * kills, whole + " of " + keys + " results after " + kills);
  }
}
