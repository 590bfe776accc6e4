package dev.kakehashi.engine.testing;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A Java program that works until it is killed.
public final class KilledProcess {
  private static final String STORED = "stored ";

  private KilledProcess() {}

  /// Called by the program: something is stored.
  public static void acknowledge(Object what) {
    System.out.println(STORED + what + ".");
  }

  /// Called by the program when it has done everything: waits for its end.
  public static void awaitKill() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  /// Runs a program until it has acknowledged so much, and kills it.
  ///
  /// @return everything that it has acknowledged
  public static List<String> run(Class<?> program, int acknowledgedBeforeKill, String... arguments)
      throws Exception {
    return run(List.of(), program, acknowledgedBeforeKill, arguments);
  }

  /// The same in a JVM with options.
  public static List<String> run(
      List<String> jvmOptions, Class<?> program, int acknowledgedBeforeKill, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It ends long before the second compiler has made anything of worth.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(jvmOptions);
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options that native access needs, as this process has them.
      if (option.startsWith("--")) {
        command.add(option);
      }
    }
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    List<String> acknowledged = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      while (line != null) {
        // A line is complete if its end was written before the kill.
        if (line.startsWith(STORED) && line.endsWith(".")) {
          acknowledged.add(line.substring(STORED.length(), line.length() - 1));
        }
        if (acknowledged.size() == acknowledgedBeforeKill) {
          // By its handle: the process object would close the pipe that we are still reading.
          process.toHandle().destroyForcibly();
        }
        line = lines.readLine();
      }
    } finally {
      process.destroyForcibly();
      assertTrue(process.waitFor(30, TimeUnit.SECONDS));
    }
    assertNotEquals(0, process.exitValue(), "the program ended by itself");
    assertTrue(acknowledged.size() >= acknowledgedBeforeKill);
    return acknowledged;
  }
}
