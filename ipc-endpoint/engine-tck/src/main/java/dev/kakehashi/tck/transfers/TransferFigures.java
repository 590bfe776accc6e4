package dev.kakehashi.tck.transfers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// Events during a phase of a trial. Thread-safe; times are of [System#nanoTime()].
final class TransferFigures {
  /// Kept of each kind. The others are counted, so that one kind does not hide another.
  private static final int KEPT = 20;

  private static final Pattern NUMBER = Pattern.compile("\\d+");

  // This and what follows: guarded by this. By kinds, which are texts without their numbers.
  private final Map<String, Violations> violations = new LinkedHashMap<>();
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

  private static final class Violations {
    private final List<String> kept = new ArrayList<>();
    private int count;

    void add(String what) {
      if (count++ < KEPT) {
        kept.add(what);
      }
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
    violations
        .computeIfAbsent(NUMBER.matcher(what).replaceAll("#"), kind -> new Violations())
        .add(what);
  }

  /// The first ones of each kind, and how many there are besides.
  synchronized List<String> violations() {
    List<String> result = new ArrayList<>();
    violations.forEach((kind, those) -> {
      result.addAll(those.kept);
      if (those.count > KEPT) {
        result.add("%d more as: %s".formatted(those.count - KEPT, kind));
      }
    });
    return result;
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
