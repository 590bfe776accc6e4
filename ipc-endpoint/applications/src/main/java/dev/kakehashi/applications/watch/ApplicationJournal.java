package dev.kakehashi.applications.watch;

import dev.kakehashi.engine.api.application.ApplicationSystem.ApplicationFailure;
import dev.kakehashi.engine.api.application.ApplicationSystem.LogLine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/// Latest failures and log lines: two rings of bounded size. Thread-safe.
public final class ApplicationJournal {
  private static final int MAX_FAILURES = 1_000;
  private static final int MAX_LINES = 10_000;
  private static final int MAX_LINE = 4_000;

  private final ArrayDeque<ApplicationFailure> failures = new ArrayDeque<>(); // guarded by itself
  private final ArrayDeque<LogLine> lines = new ArrayDeque<>(); // guarded by itself

  private final Consumer<ApplicationFailure> failed;
  private final Consumer<LogLine> logged;

  public ApplicationJournal() {
    this(failure -> {}, line -> {});
  }

  /// @param failed gets every failure, from the thread where it happened
  /// @param logged gets every line
  public ApplicationJournal(Consumer<ApplicationFailure> failed, Consumer<LogLine> logged) {
    this.failed = failed;
    this.logged = logged;
  }

  /// Keeps a failure.
  public void add(ApplicationFailure failure) {
    failed.accept(failure);
    synchronized (failures) {
      if (failures.size() == MAX_FAILURES) {
        failures.removeFirst();
      }
      failures.addLast(failure);
    }
  }

  /// @param line its first 4,000 characters are kept
  public void log(String application, int version, long call, String line) {
    String kept = line.length() > MAX_LINE ? line.substring(0, MAX_LINE) : line;
    LogLine made = new LogLine(System.currentTimeMillis(), application, version, call, kept);
    logged.accept(made);
    synchronized (lines) {
      if (lines.size() == MAX_LINES) {
        lines.removeFirst();
      }
      lines.addLast(made);
    }
  }

  /// The newest first.
  public List<ApplicationFailure> failures() {
    synchronized (failures) {
      return reversed(failures);
    }
  }

  /// The newest first.
  public List<LogLine> lines() {
    synchronized (lines) {
      return reversed(lines);
    }
  }

  private static <T> List<T> reversed(ArrayDeque<T> ring) {
    List<T> copy = new ArrayList<>(ring);
    Collections.reverse(copy);
    return copy;
  }
}
