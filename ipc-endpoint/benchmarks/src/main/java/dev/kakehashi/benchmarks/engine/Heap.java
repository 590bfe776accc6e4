package dev.kakehashi.benchmarks.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// PostgreSQL with its heap, by psql and pgbench. libpq's environment variables say where it is.
///
/// @param pgbench the program
/// @param directory of files that both this process and the server may read and write
public record Heap(String pgbench, Path directory) {
  private static final String TIME = "Time: ";

  /// Runs statements in one session.
  ///
  /// @return what psql said
  public String run(String... statements) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("psql", "-XqAt"));
    command.addAll(List.of("-v", "ON_ERROR_STOP=1", "-c", "\\timing on"));
    for (String statement : statements) {
      command.addAll(List.of("-c", statement));
    }
    return output(command);
  }

  /// Milliseconds of the last of these statements, as psql says.
  public double time(String... statements) throws IOException, InterruptedException {
    return run(statements)
        .lines()
        .filter(line -> line.startsWith(TIME))
        .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[1]))
        .reduce((before, last) -> last)
        .orElseThrow(() -> new IOException("psql does not say the time of " + statements[0]));
  }

  /// Transactions per second, as pgbench says. Several may run at the same time.
  public double rate(String script, int clients, int seconds)
      throws IOException, InterruptedException {
    Path file = Files.createTempFile(directory, "pgbench", ".sql");
    try {
      Files.writeString(file, script);
      return rate(file, clients, seconds);
    } finally {
      Files.delete(file);
    }
  }

  private double rate(Path file, int clients, int seconds)
      throws IOException, InterruptedException {
    String said =
        output(
            List.of(
                pgbench,
                "-n",
                "-M",
                "prepared",
                "-c",
                Integer.toString(clients),
                "-j",
                Integer.toString(Math.min(2, clients)),
                "-T",
                Integer.toString(seconds),
                "-f",
                file.toString()));
    return Arrays.stream(said.split("\n", -1))
        .filter(line -> line.startsWith("tps = "))
        .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[2]))
        .findFirst()
        .orElseThrow(() -> new IOException(said));
  }

  private static String output(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(command + ": " + said);
    }
    return said;
  }
}
