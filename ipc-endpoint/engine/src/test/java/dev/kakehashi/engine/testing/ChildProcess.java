package dev.kakehashi.engine.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A Java program that runs to its end.
public final class ChildProcess {
  private ChildProcess() {}

  /// Runs a program with other classes in place of ours; what it prints is printed.
  ///
  /// @param classes directory that comes first in its class path
  /// @return its exit status
  public static int run(Path classes, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-ea", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options that native access needs, as this process has them.
      if (option.startsWith("--")) {
        command.add(option);
      }
    }
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    command.add("-cp");
    command.add(
        classes + System.getProperty("path.separator") + System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      return process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }
}
