package dev.kakehashi.benchmarks.queue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// A library of Node, measured by a script of ours in a process of Node, whose last line has the figures.
final class NodeMeasure implements Measured {
  private final String name;
  private final Path script;
  private final String url;

  /// @param url of PostgreSQL, as Node's driver takes it
  NodeMeasure(String name, Path script, String url) {
    this.name = name;
    this.script = script;
    this.url = url;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean skipLocked() {
    return true;
  }

  @Override
  public double life(int producers, int consumers, int batch, double seconds) throws Exception {
    return run(
        "life",
        Integer.toString(producers),
        Integer.toString(consumers),
        Integer.toString(batch),
        Double.toString(seconds))[0];
  }

  @Override
  public double[] latencies(int count) throws Exception {
    double[] micros = run("latency", Integer.toString(count));
    Arrays.sort(micros);
    return micros;
  }

  private double[] run(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("node", script.toString(), url);
    builder.command().addAll(List.of(arguments));
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
    if (process.waitFor() != 0) {
      throw new IOException(name + " has failed: " + out);
    }
    String last = out.substring(out.lastIndexOf('\n') + 1);
    return Arrays.stream(last.split(" ")).mapToDouble(Double::parseDouble).toArray();
  }
}
