package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// The command-line tools, run as a user runs them.
public final class Tools {
  private Tools() {}

  /// What a command printed on its standard output, and how it ended.
  public record Outcome(int exitCode, String output) {}

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
    var command = new ArrayList<>(Installation.asServerUser());
    command.addAll(
        List.of(
            Installation.java().toString(),
            "@" + Installation.jvmOptions(),
            "-Xmx1g", // the generator's pool of text alone takes 300 MB
            "-jar",
            Installation.runDirectory().resolve("lib/kakehashi-tools.jar").toString()));
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Outcome(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
