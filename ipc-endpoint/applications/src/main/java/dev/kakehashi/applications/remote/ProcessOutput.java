package dev.kakehashi.applications.remote;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes the output of a process to the log, cut to lines of 1,000 characters and 100 lines a second. Thread-safe.
final class ProcessOutput {
  private static final int LINE = 1_000;
  private static final int LINES_PER_SECOND = 100;
  private static final Logger LOG = LoggerFactory.getLogger(ProcessOutput.class);

  /// Beginning of the line that the JVM prints before it ends for want of memory.
  private static final String OUT_OF_MEMORY = "Terminating due to java.lang.OutOfMemoryError: ";

  private static final Duration END = Duration.ofSeconds(1);

  private final Thread thread;

  /// Memory that the JVM lacked; empty: none.
  private volatile String lacked = "";

  private ProcessOutput(String name, Process process) {
    thread =
        Thread.ofPlatform()
            .name("output of " + name)
            .daemon()
            .unstarted(() -> {
              try (BufferedReader output =
                  new BufferedReader(
                      new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                copy(name, output);
              } catch (IOException | UncheckedIOException e) {
                LOG.debug("output of {} ends", name, e);
              }
            });
  }

  /// Reads until the process closes it, on a thread of its own.
  static ProcessOutput read(String name, Process process) {
    ProcessOutput output = new ProcessOutput(name, process);
    output.thread.start();
    return output;
  }

  /// Which memory a process that has ended had not enough of, as its JVM says; empty: it says nothing of that.
  String lackedMemory() {
    try {
      // Its last output may still be in the pipe.
      boolean ignored = thread.join(END);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return lacked;
  }

  private void copy(String name, BufferedReader output) throws IOException {
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
      if (line.indexOf(OUT_OF_MEMORY) == 0) {
        lacked = line.substring(OUT_OF_MEMORY.length());
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
