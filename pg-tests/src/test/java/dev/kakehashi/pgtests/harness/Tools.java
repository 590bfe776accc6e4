package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// The command-line tools, run as a user runs them.
public final class Tools {
  private Tools() {}

  /// Standard output of a command, and its exit code.
  public record Outcome(int exitCode, String output) {}

  /// A running command, whose standard output is read while it runs. The caller closes it after it has read all.
  public record Output(Process process, List<String> arguments, InputStream stream)
      implements AutoCloseable {
    /// @throws IllegalStateException if the command has failed, or goes on after its output was read
    @Override
    public void close() {
      try {
        if (!process.waitFor(1, TimeUnit.MINUTES) || process.exitValue() != 0) {
          throw new IllegalStateException(
              "kakehashi-tools " + arguments + " failed, or did not end with its output");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      } finally {
        process.destroyForcibly();
      }
    }
  }

  /// Runs a command of kakehashi-tools and returns its standard output.
  ///
  /// @throws IllegalStateException when it fails
  public static String run(String... arguments) {
    Outcome outcome = outcome(arguments);
    if (outcome.exitCode() != 0) {
      throw new IllegalStateException(
          "kakehashi-tools "
              + List.of(arguments)
              + " ended with "
              + outcome.exitCode()
              + ": "
              + outcome.output());
    }
    return outcome.output();
  }

  /// Runs a command of kakehashi-tools, which may fail.
  public static Outcome outcome(String... arguments) {
    try {
      Output running = start(arguments);
      String output = new String(running.stream().readAllBytes(), StandardCharsets.UTF_8);
      return new Outcome(running.process().waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /// Runs a command of kakehashi-tools, which may fail. Its errors are part of the output.
  ///
  /// @param input of the command
  public static OsProcess.Outcome outcomeWithErrors(
      String input, Map<String, String> environment, String... arguments) {
    return OsProcess.run(command(arguments), environment, input, Duration.ofMinutes(2));
  }

  /// Starts a command of kakehashi-tools; its errors go to this process's standard error.
  public static Output start(String... arguments) throws IOException {
    var command = new ArrayList<>(Installation.asServerUser());
    command.addAll(command(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    process.getOutputStream().close();
    return new Output(process, List.of(arguments), process.getInputStream());
  }

  /// A command of kakehashi-tools as a line of the system's shell.
  public static String line(String... arguments) {
    return command(arguments).stream()
        .map(each -> "'" + each.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" "));
  }

  private static List<String> command(String... arguments) {
    var command = new ArrayList<>(Installation.toolsJvm());
    if (arguments[0].equals("sql")) {
      command.add("-XX:TieredStopAtLevel=1"); // as the launcher says
    }
    command.addAll(
        List.of("-jar", Installation.runDirectory().resolve("lib/kakehashi-tools.jar").toString()));
    command.addAll(List.of(arguments));
    return command;
  }
}
