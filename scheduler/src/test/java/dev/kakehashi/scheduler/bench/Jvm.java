package dev.kakehashi.scheduler.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/// Other JVMs with this one's options and class path.
final class Jvm {
  private Jvm() {}

  /// Starts one; what it writes to its error output is seen here.
  ///
  /// @param options of the JVM, beside this one's
  /// @param output where its output goes
  static java.lang.Process start(
      Class<?> main, List<String> options, ProcessBuilder.Redirect output, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .redirectOutput(output)
        .start();
  }
}
