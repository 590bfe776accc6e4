package dev.kakehashi.server;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// A command of `kakehashi` that ran in this process.
///
/// @param output what it has printed
public record Command(int exitCode, String output) {
  /// Runs it; one at a time, because it has the process's standard output meanwhile.
  public static synchronized Command run(String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (PrintStream to = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
      System.setOut(to);
      System.setErr(to);
      int code = Main.commandLine().execute(arguments);
      return new Command(code, printed.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  /// Fails unless it ended so and said this.
  public void expect(int code, String... parts) {
    if (code != exitCode) {
      throw new AssertionError("ended with " + exitCode + ": " + output);
    }
    for (String part : parts) {
      if (!output.contains(part)) {
        throw new AssertionError("does not say \"" + part + "\": " + output);
      }
    }
  }
}
