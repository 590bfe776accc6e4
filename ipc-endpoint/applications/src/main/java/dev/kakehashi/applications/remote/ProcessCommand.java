package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The command line of a process.
final class ProcessCommand {
  private ProcessCommand() {}

  /// Begins it. Standard input stays open as long as the endpoint lives; standard error goes to standard output.
  static Process start(ProcessSettings settings, ApplicationOptions options, Path link)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words(settings, options, link));
    builder.redirectErrorStream(true).directory(new File("/"));
    // Nothing of the endpoint's environment: it may have passwords.
    builder.environment().clear();
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    return builder.start();
  }

  private static List<String> words(
      ProcessSettings settings, ApplicationOptions options, Path link) {
    List<String> words = new ArrayList<>(settings.prefix());
    words.add(settings.java().toString());
    words.add("-Xmx" + Math.max(16L << 20, options.memoryBytes()));
    words.add("-Xss" + Math.clamp(options.maxStackBytes(), 256L << 10, 1L << 30));
    words.addAll(
        List.of(
            "-Xms16m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-XX:MaxMetaspaceSize=256m",
            "-XX:MaxDirectMemorySize=64m",
            "--enable-native-access=ALL-UNNAMED",
            // Calls of the engine wait in the system, which holds their carriers.
            "-Djdk.virtualThreadScheduler.parallelism=64",
            "-Djdk.virtualThreadScheduler.maxPoolSize=512",
            "-Djava.awt.headless=true",
            "-cp",
            settings.classPath(),
            settings.mainClass(),
            link.toString()));
    return words;
  }
}
