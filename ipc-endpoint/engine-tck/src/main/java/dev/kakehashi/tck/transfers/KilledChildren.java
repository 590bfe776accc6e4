package dev.kakehashi.tck.transfers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs the load of a trial in children of this process, each of which opens the engine, moves money and is killed.
final class KilledChildren {
  /// Line that a child prints when the load has begun.
  static final String READY = "ready";

  /// Beginning of a line that says what is wrong.
  static final String WRONG = "WRONG ";

  private final TrialOptions options;
  private final TransferFigures figures;
  private final PrintStream out;

  KilledChildren(TrialOptions options, TransferFigures figures, PrintStream out) {
    this.options = options;
    this.figures = figures;
    this.out = out;
  }

  void run() throws IOException, InterruptedException {
    for (int kill = 1; kill <= options.kills().count() && figures.violations().isEmpty(); kill++) {
      loadAndKill(kill);
    }
  }

  private void loadAndKill(int kill) throws IOException, InterruptedException {
    Process child = start();
    try (BufferedReader lines = reader(child)) {
      if (!readTo(lines, READY)) {
        figures.violated("the child before kill " + kill + " ended by itself");
        return;
      }
      if (child.waitFor(options.kills().everyMillis(), TimeUnit.MILLISECONDS)) {
        readTo(lines, "");
        figures.violated("the child before kill " + kill + " ended by itself");
        return;
      }
      // Asks for the figures.
      child.getOutputStream().write('\n');
      child.getOutputStream().flush();
      String line = lines.readLine();
      out.println("before kill " + kill + ": " + line);
      // By its handle: the process object would close the pipe.
      child.toHandle().destroyForcibly();
      end(child, "the killed child");
    } finally {
      child.destroyForcibly();
    }
  }

  private Process start() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options for native access and for the engine, as this process has them.
      if (option.startsWith("--") || option.startsWith("-Dkakehashi.") || option.startsWith("-X")) {
        command.add(option);
      }
    }
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    for (String property : System.getProperties().stringPropertyNames()) {
      if (property.startsWith("kakehashi.tck.")) {
        command.add("-D" + property + "=" + System.getProperty(property));
      }
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(TransferTrial.class.getName());
    command.addAll(options.arguments("load"));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static BufferedReader reader(Process child) {
    return new BufferedReader(
        new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Shows what a child says, up to a line.
  ///
  /// @return whether the line came
  private boolean readTo(BufferedReader lines, String end) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.equals(end)) {
        return true;
      }
      if (line.startsWith(WRONG)) {
        figures.violated(line.substring(WRONG.length()));
      } else {
        out.println(line);
      }
    }
    return false;
  }

  private void end(Process child, String who) throws InterruptedException {
    if (!child.waitFor(options.limits().recoveryMillis(), TimeUnit.MILLISECONDS)) {
      figures.violated(who + " does not end");
    }
  }
}
