package dev.kakehashi.applications.remote;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What a process prints goes to the log, cut to lines of 1,000 characters and 100 lines a second.
final class ProcessOutput {
  private static final int LINE = 1_000;
  private static final int LINES_PER_SECOND = 100;
  private static final Logger LOG = LoggerFactory.getLogger(ProcessOutput.class);

  private ProcessOutput() {}

  /// Reads until the process closes it, on a thread of its own.
  static void read(String name, Process process) {
    Thread.ofPlatform()
        .name("output of " + name)
        .daemon()
        .start(() -> {
          try (BufferedReader output =
              new BufferedReader(
                  new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            copy(name, output);
          } catch (IOException | UncheckedIOException e) {
            LOG.debug("output of {} ends", name, e);
          }
        });
  }

  private static void copy(String name, BufferedReader output) throws IOException {
    StringBuilder line = new StringBuilder();
    long second = 0;
    int lines = 0;
    for (int c = output.read(); c >= 0; c = output.read()) {
      if (c != '\n') {
        if (line.length() < LINE) {
          line.append((char) c);
        }
        continue;
      }
      long now = System.nanoTime() / 1_000_000_000L;
      if (now != second) {
        second = now;
        lines = 0;
      }
      if (lines++ < LINES_PER_SECOND) {
        LOG.info("{}: {}", name, line);
      }
      line.setLength(0);
    }
  }
}
