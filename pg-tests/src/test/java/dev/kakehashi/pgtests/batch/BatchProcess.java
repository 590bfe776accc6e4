package dev.kakehashi.pgtests.batch;

import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A process of examples/batch, which is read line by line. One thread.
final class BatchProcess implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final Path EXAMPLE = Installation.checkout().resolve("examples/batch");

  private final Process process;
  private final BufferedReader output;
  private final List<String> lines = new ArrayList<>();

  private BatchProcess(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  /// @param arguments of the program
  static BatchProcess start(Map<String, String> environment, String... arguments)
      throws IOException {
    Path built = Installation.checkout().resolve("target/batch");
    if (!Files.exists(built.resolve("classpath"))) {
      throw new IllegalStateException("examples/batch is not built; run \".make/batch.sh\"");
    }
    List<String> command = new ArrayList<>();
    command.add(Files.readString(built.resolve("java")).strip() + "/bin/java");
    command.addAll(List.of("-Xmx256m", "-cp"));
    command.add(Files.readString(built.resolve("classpath")));
    command.add("dev.kakehashi.examples.batch.Batch");
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    builder.environment().put("SPARK_OPTIONS", EXAMPLE.resolve("spark.options").toString());
    // Both JVMs live for seconds.
    builder.environment().put("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    return new BatchProcess(builder.start());
  }

  static Path example() {
    return EXAMPLE;
  }

  /// Reads until a line begins with a text.
  ///
  /// @return the rest of that line
  /// @throws AssertionError when the output ends before
  String await(String beginning) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      lines.add(line);
      if (line.startsWith(beginning)) {
        return line.substring(beginning.length());
      }
    }
    throw new AssertionError("no line begins with \"" + beginning + "\": " + lines);
  }

  /// Reads to the end.
  ///
  /// @return its code
  int end() throws IOException {
    output.lines().forEach(lines::add);
    return OsProcess.awaitExit(process, LIMIT);
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  /// SIGKILL.
  void kill() {
    OsProcess.kill(process);
  }

  /// Ends it with its job of Spark.
  @Override
  public void close() {
    List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
    all.add(process.toHandle());
    for (ProcessHandle each : all) {
      each.destroyForcibly();
    }
    try {
      if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("the batch did not end");
      }
      output.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
