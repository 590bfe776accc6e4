package dev.kakehashi.pgtests.harness;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A Java program with a session of the client library, which does what it is told, line by line: see `InteractiveSession.java` of the
/// resources. It runs as the servers' OS user. Used by one thread.
public final class JavaSession implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String PROGRAM = "InteractiveSession.java";
  private static final String END = "done";

  private final Process process;
  private final BufferedWriter input;
  private final BufferedReader output;

  private JavaSession(Process process) {
    this.process = process;
    this.input = process.outputWriter(StandardCharsets.UTF_8);
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /// Attaches to the endpoint of a cluster.
  public static JavaSession open(Cluster cluster) {
    Path program = cluster.workspace().disk().resolve(PROGRAM);
    try {
      if (Files.notExists(program)) {
        try (InputStream source =
            Objects.requireNonNull(JavaSession.class.getResourceAsStream("/" + PROGRAM))) {
          Files.copy(source, program);
        }
      }
      var command = new ArrayList<>(Installation.asServerUser());
      command.addAll(
          List.of(
              Installation.java().toString(),
              "@" + Installation.jvmOptions(),
              "-Xmx256m",
              "-XX:TieredStopAtLevel=1",
              "--class-path",
              Installation.runDirectory().resolve("lib/kakehashi-tools.jar").toString(),
              program.toString(),
              cluster.endpoint().runtimeDirectory().toString()));
      return new JavaSession(
          new ProcessBuilder(command)
              .directory(Path.of("/").toFile())
              .redirectErrorStream(true)
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Has one line done.
  ///
  /// @return what the program prints, without the end of the last line; `error` and the SQLSTATE if the endpoint refuses
  public String run(String line) {
    var answer = CompletableFuture.supplyAsync(() -> exchange(line));
    try {
      return answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      process.destroyForcibly();
      throw new AssertionError("no answer within " + LIMIT + ": " + line, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("the Java session failed: " + line, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private String exchange(String request) {
    try {
      input.write(request + "\n");
      input.flush();
      var lines = new ArrayList<String>();
      for (String line = output.readLine(); !END.equals(line); line = output.readLine()) {
        if (line == null) {
          throw new IllegalStateException("it ended: " + String.join("\n", lines));
        }
        lines.add(line);
      }
      return String.join("\n", lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
    OsProcess.awaitExit(process, LIMIT);
  }
}
