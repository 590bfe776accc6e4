package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs the jcstress tests of `src/jcstress` in JVMs of their own: a forbidden outcome fails the build. Short here;
/// `-Dscheduler.jcstress="-m default"` gives jcstress other arguments.
class JcstressTest {
  private static final String SHORT =
      "-f 1 -fsm 1 -iters 2 -time 300 -af NONE -sc false -jvmArgs -Xmx256m";
  private static final String SOUND = "ProtocolStress|QueueStress";
  private static final Pattern RESULTS =
      Pattern.compile(
          "Results: (\\d+) planned; (\\d+) passed, (\\d+) failed, (\\d+) soft errs, (\\d+) hard errs");

  /// Counts of jcstress's last line.
  private record Results(int planned, int passed, int failed, int errors) {}

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void shouldSeeNoForbiddenOutcome() throws Exception {
    Results results = run(SOUND);
    assertTrue(results.planned >= 12, results::toString);
    assertEquals(results.planned, results.passed, results::toString);
  }

  @Test
  @Timeout(900)
  void shouldSeeTheForbiddenOutcomesOfBrokenProtocols() throws Exception {
    Results results;
    int round = 0;
    do { // on a busy machine two threads may not meet at once
      results = run("BrokenStress");
      assertEquals(3, results.planned, results::toString);
    } while (results.failed < 3 && ++round < 10);
    assertEquals(3, results.failed, results::toString);
  }

  private Results run(String tests) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.openjdk.jcstress.Main", "-t", tests, "-r", directory.toString()));
    command.addAll(List.of(System.getProperty("scheduler.jcstress", SHORT).split(" ")));
    command.addAll(List.of("-jvmArgsPrepend", "--enable-native-access=ALL-UNNAMED"));
    Path output = directory.resolve("output.txt");
    java.lang.Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(15, TimeUnit.MINUTES), "jcstress does not end");
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(output);
    Matcher matcher = RESULTS.matcher(text);
    int[] counts = new int[5];
    while (matcher.find()) {
      for (int i = 0; i < counts.length; i++) {
        counts[i] = Integer.parseInt(matcher.group(i + 1));
      }
    }
    Results results = new Results(counts[0], counts[1], counts[2], counts[3] + counts[4]);
    System.out.println("JcstressTest " + tests + " " + results);
    if (results.planned == 0 || (tests.equals(SOUND) && results.passed != results.planned)) {
      System.out.println(text);
    }
    return results;
  }
}
