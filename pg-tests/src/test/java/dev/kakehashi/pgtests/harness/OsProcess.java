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
import java.util.function.BooleanSupplier;

/// Runs OS processes as the servers' OS user and waits for them.
public final class OsProcess {
  private OsProcess() {}

  /// Starts a server whose output goes to `log`. The returned process is the server itself, so that killing it hits it.
  public static Process startServer(
      List<String> command, Map<String, String> environment, Path log) {
    return startServer(Installation.asServerUser(), command, environment, log);
  }

  /// The same with a prefix that decides as whom.
  static Process startServer(
      List<String> prefix, List<String> command, Map<String, String> environment, Path log) {
    var all = new ArrayList<>(prefix);
    all.addAll(command);
    var builder =
        new ProcessBuilder(all).directory(Path.of("/").toFile()).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.environment().putAll(environment);
    try {
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

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

  /// Looks 100 times a second at something that nobody announces (another process's files) until it holds.
  ///
  /// @throws AssertionError when it does not hold after `limit`
  public static void awaitTrue(String what, Duration limit, BooleanSupplier condition) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(what + " did not happen within " + limit);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(10);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for: " + what, e);
      }
    }
  }

  /// The end of a log file, for messages.
  public static String tail(Path log, int lines) {
    try {
      List<String> all = Files.readAllLines(log);
      return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
    } catch (IOException e) {
      return "(no log: " + e.getMessage() + ")";
    }
  }

  /// Bytes of a file; 0: there is none.
  static long length(Path file) {
    return file.toFile().length();
  }

  /// A log's text from a byte on.
  static String tailFrom(Path log, long from) {
    try {
      byte[] all = Files.readAllBytes(log);
      int begin = (int) Math.min(from, all.length);
      return new String(all, begin, all.length - begin, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
