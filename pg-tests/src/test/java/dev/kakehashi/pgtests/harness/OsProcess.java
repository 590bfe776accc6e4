package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Runs OS processes as the servers' OS user and waits for them.
public final class OsProcess {
  private OsProcess() {}

  /// Result of a command that has ended.
  public record Outcome(int exitCode, String output) {}

  /// Runs a command as the servers' OS user to its end. Standard error is part of the output.
  ///
  /// @throws IllegalStateException when it has not ended in time; it is killed then
  public static Outcome run(
      List<String> command, Map<String, String> environment, String input, Duration limit) {
    var all = new ArrayList<>(Installation.asServerUser());
    all.addAll(command);
    return runAsSelf(all, environment, input, limit);
  }

  private static Outcome runAsSelf(
      List<String> command, Map<String, String> environment, String input, Duration limit) {
    try {
      Path output = Files.createTempFile("kakehashi-", ".out");
      try {
        var builder =
            new ProcessBuilder(command).directory(Path.of("/").toFile()).redirectErrorStream(true);
        builder.redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try (var stdin = process.getOutputStream()) {
          stdin.write(input.getBytes(StandardCharsets.UTF_8));
        }
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          process.destroyForcibly();
          throw new IllegalStateException(
              command.getFirst()
                  + " did not end within "
                  + limit
                  + ": "
                  + Files.readString(output));
        }
        return new Outcome(process.exitValue(), Files.readString(output));
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + command.getFirst() + " ran", e);
    }
  }

  /// Like [#run], and fails unless the command ends with 0.
  public static String runOk(
      List<String> command, Map<String, String> environment, Duration limit) {
    return okOutput(command, run(command, environment, "", limit));
  }

  private static String okOutput(List<String> command, Outcome outcome) {
    if (outcome.exitCode() != 0) {
      throw new IllegalStateException(
          command + " ended with " + outcome.exitCode() + ": " + outcome.output());
    }
    return outcome.output();
  }

  /// Runs a command as the user of this process, which is root, or in a form that changes it.
  public static Outcome runAsSelf(List<String> command, Duration limit) {
    return runAsSelf(command, Map.of(), "", limit);
  }

  /// Runs a command as the user of this process, and fails unless it ends with 0.
  public static String runOkAsSelf(List<String> command, Duration limit) {
    return okOutput(command, runAsSelf(command, Map.of(), "", limit));
  }

  /// Sends a signal to a process that this one did not start itself, a backend.
  public static void signal(String name, long pid) {
    runOkAsSelf(List.of("kill", "-" + name, Long.toString(pid)), Duration.ofSeconds(60));
  }

  /// Sends SIGKILL and waits until the process is gone.
  public static void kill(Process process) {
    process.destroyForcibly();
    awaitExit(process, Duration.ofSeconds(60));
  }

  /// Waits for the end of a process.
  ///
  /// @throws IllegalStateException when it still runs after `limit`
  public static int awaitExit(Process process, Duration limit) {
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("process " + process.pid() + " still runs after " + limit);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for process " + process.pid(), e);
    }
  }
}
