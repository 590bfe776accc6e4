package dev.kakehashi.scheduler.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One question, asked of several schedulers in turn: each repetition measures every one of them, so that whatever
/// else the machine does meets all. Reports medians and extremes, and the ratios of medians and of least figures to
/// the best of ForkJoinPool's settings. On a machine that does something else meanwhile the least figures say
/// more, because a disturbance only adds; a goal is met by either ratio.
final class Row {
  /// One run of one scheduler on the row's work; the figure's unit is the row's.
  interface Measure {
    double run() throws Exception;
  }

  private record Subject(String name, Kind kind, Measure measure, double[] figures) {
    double median() {
      double[] sorted = figures.clone();
      Arrays.sort(sorted);
      return sorted[sorted.length / 2];
    }

    double least() {
      return Arrays.stream(figures).min().orElse(Double.NaN);
    }

    double most() {
      return Arrays.stream(figures).max().orElse(Double.NaN);
    }
  }

  private enum Kind {
    OURS,
    OURS_TOO,
    FORK_JOIN,
    OTHER
  }

  private final String title;
  private final String unit;
  private final @Nullable Double goal;
  private final int repetitions;
  private final List<Subject> subjects = new ArrayList<>();

  /// @param goal largest wanted ratio of ours to ForkJoinPool's better setting, or null if there is none
  Row(String title, String unit, @Nullable Double goal, int repetitions) {
    this.title = title;
    this.unit = unit;
    this.goal = goal;
    this.repetitions = repetitions;
  }

  /// Ours, which the goal is about.
  Row ours(Measure measure) {
    return add("ours", Kind.OURS, measure);
  }

  /// Ours in another way, for comparison.
  Row oursToo(String name, Measure measure) {
    return add(name, Kind.OURS_TOO, measure);
  }

  /// A setting of ForkJoinPool, or a way to use it.
  Row forkJoin(String name, Measure measure) {
    return add("FJP " + name, Kind.FORK_JOIN, measure);
  }

  /// Another scheduler of the JDK.
  Row other(String name, Measure measure) {
    return add(name, Kind.OTHER, measure);
  }

  private Row add(String name, Kind kind, Measure measure) {
    subjects.add(new Subject(name, kind, measure, new double[repetitions]));
    return this;
  }

  /// Measures and prints; true if the goal was met or there is none.
  boolean run() throws Exception {
    for (int warmUp = 0; warmUp < 2; warmUp++) {
      for (Subject subject : subjects) {
        subject.measure.run();
      }
    }
    for (int i = 0; i < repetitions; i++) {
      for (Subject subject : subjects) {
        subject.figures[i] = subject.measure.run();
      }
    }
    double median = bestForkJoin(Subject::median);
    double least = bestForkJoin(Subject::least);
    boolean met = true;
    System.out.printf(Locale.ROOT, "%n%s, %s%n", title, unit);
    for (Subject subject : subjects) {
      double ratio = subject.median() / median;
      double ratioOfLeast = subject.least() / least;
      String verdict = "";
      if (subject.kind == Kind.OURS && goal != null) {
        met = Math.min(ratio, ratioOfLeast) <= goal;
        verdict = String.format(Locale.ROOT, "  goal %.2f %s", goal, met ? "met" : "MISSED");
      }
      System.out.printf(
          Locale.ROOT,
          "  %-34s %10.1f  [%.1f .. %.1f]  x%.2f  least x%.2f%s%n",
          subject.name,
          subject.median(),
          subject.least(),
          subject.most(),
          ratio,
          ratioOfLeast,
          verdict);
    }
    return met;
  }

  private double bestForkJoin(java.util.function.ToDoubleFunction<Subject> figure) {
    return subjects.stream()
        .filter(subject -> subject.kind == Kind.FORK_JOIN)
        .mapToDouble(figure)
        .min()
        .orElse(Double.NaN);
  }
}
