package dev.kakehashi.tck.transfers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Events during a phase of a trial. Thread-safe; times are of [System#nanoTime()].
final class TransferFigures {
  private final List<String> violations =
      new ArrayList<>(); // this and what follows: guarded by this
  private final Map<String, Integer> errors = new TreeMap<>();
  private long began = System.nanoTime();
  private long commits;
  private long sums;
  private long lastCommit = began;
  private long longestPause;
  private long slowestCall;

  /// Figures of one phase.
  ///
  /// @param perSecond commits
  /// @param pauseMillis longest time without a commit, of all writers
  /// @param slowestMillis longest call
  record Phase(
      long commits,
      double perSecond,
      long sums,
      long pauseMillis,
      long slowestMillis,
      Map<String, Integer> errors) {
    @Override
    public String toString() {
      return "%d commits, %.0f/s, %d sums, longest pause %d ms, slowest call %d ms, errors %s"
          .formatted(commits, perSecond, sums, pauseMillis, slowestMillis, errors);
    }
  }

  synchronized void committed() {
    long now = System.nanoTime();
    longestPause = Math.max(longestPause, now - lastCommit);
    lastCommit = now;
    commits++;
  }

  /// Commits of the phase so far.
  synchronized long commits() {
    return commits;
  }

  synchronized void summed() {
    sums++;
  }

  synchronized void failed(String sqlstate) {
    errors.merge(sqlstate, 1, Integer::sum);
  }

  synchronized void called(long nanos) {
    slowestCall = Math.max(slowestCall, nanos);
  }

  /// Something that may never happen.
  synchronized void violated(String what) {
    if (violations.size() < 100) {
      violations.add(what);
    }
  }

  synchronized List<String> violations() {
    return List.copyOf(violations);
  }

  /// Ends a phase and begins the next one.
  synchronized Phase endPhase() {
    long now = System.nanoTime();
    longestPause = Math.max(longestPause, now - lastCommit);
    Phase phase =
        new Phase(
            commits,
            commits * 1e9 / Math.max(1, now - began),
            sums,
            longestPause / 1_000_000,
            slowestCall / 1_000_000,
            new TreeMap<>(errors));
    began = now;
    lastCommit = now;
    commits = 0;
    sums = 0;
    longestPause = 0;
    slowestCall = 0;
    errors.clear();
    return phase;
  }
}
