package dev.kakehashi.pgtests.harness;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// One psql process that stays connected from call to call, as a user's does. Used by one thread.
public final class PsqlSession implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String END = "kakehashi-end-of-answer";

  private final Process process;
  private final BufferedWriter input;
  private final BufferedReader output;

  private PsqlSession(Process process) {
    this.process = process;
    this.input = process.outputWriter(StandardCharsets.UTF_8);
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /// Connects to a server.
  public static PsqlSession open(PostgresProcess server) {
    var command = new ArrayList<>(Installation.asServerUser());
    command.addAll(List.of("psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose"));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(server.environment());
    try {
      return new PsqlSession(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Runs statements and returns what psql prints: rows without decoration, errors with their SQLSTATE.
  public String run(String sql) {
    var answer = CompletableFuture.supplyAsync(() -> exchange(sql));
    try {
      return answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      process.destroyForcibly();
      throw new AssertionError("psql did not answer within " + LIMIT + ": " + sql, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("psql failed: " + sql, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private String exchange(String sql) {
    try {
      input.write(sql + "\n;\n\\echo " + END + "\n");
      input.flush();
      var lines = new ArrayList<String>();
      for (String line = output.readLine(); !END.equals(line); line = output.readLine()) {
        if (line == null) {
          throw new IllegalStateException("psql ended: " + String.join("\n", lines));
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
