package dev.kakehashi.benchmarks.rest;

import dev.kakehashi.benchmarks.engine.Repetitions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// The file of a job's result, fetched by Range, beside [SendFile] of the same bytes.
record Download(Service endpoint, Repetitions turns, double seconds) {
  private static final String RANGE = "Range: bytes=0-\r\n";

  void run(String sql) throws Exception {
    String file = result(sql) + "/files/1";
    byte[] request = endpoint.get(file, RANGE);
    Path copy = Files.createTempFile("download", ".csv");
    try {
      try (Wire wire = new Wire(endpoint.port())) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (wire.exchange(request, bytes) != 206) {
          throw new IOException("no part of " + file);
        }
        Files.write(copy, bytes.toByteArray());
      }
      try (SendFile server = new SendFile(copy)) {
        fetch(server.port(), request);
        fetch(endpoint.port(), request);
        Repetitions.Medians medians =
            turns.compare(
                () -> fetch(server.port(), request), () -> fetch(endpoint.port(), request));
        BenchmarkTable.atLeast(
            "download by Range (peer: sendfile), MB/s",
            BenchmarkTable.megabytes(medians.heap()),
            BenchmarkTable.megabytes(medians.engine()),
            medians.engine() / medians.heap(),
            0.8);
      }
    } finally {
      Files.delete(copy);
    }
  }

  /// Runs a statement as a job until it has ended.
  ///
  /// @return where the job is
  private String result(String sql) throws IOException {
    try (Wire wire = new Wire(endpoint.port())) {
      wire.expect(
          202,
          endpoint.statement("/v1/sql", "Accept: text/csv\r\nPrefer: respond-async\r\n", sql, ""));
      String job = wire.location();
      ByteArrayOutputStream state = new ByteArrayOutputStream();
      for (int polls = 0; polls < 10; polls++) {
        state.reset();
        wire.exchange(endpoint.get(job + "?wait=30", ""), state);
        if (state.toString(StandardCharsets.UTF_8).contains("\"succeeded\"")) {
          return job;
        }
      }
      throw new IOException("job has not succeeded: " + state.toString(StandardCharsets.UTF_8));
    }
  }

  /// @return bytes per second
  private double fetch(int port, byte[] request) throws IOException {
    try (Wire wire = new Wire(port)) {
      long began = System.nanoTime();
      long end = began + (long) (seconds * 1e9);
      long bytes = 0;
      while (System.nanoTime() < end) {
        wire.expect(206, request);
        bytes += wire.bodyBytes();
      }
      return bytes * 1e9 / (System.nanoTime() - began);
    }
  }
}
