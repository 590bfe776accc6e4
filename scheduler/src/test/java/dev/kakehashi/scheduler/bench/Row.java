package dev.kakehashi.scheduler.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One question, asked of several schedulers in turn: each repetition measures every one of them, so that whatever
/// else the machine does meets all. Reports medians and extremes, and the ratios of medians and of least figures to
/// the best of what the row compares with, mostly ForkJoinPool's settings. On a machine that does something else
/// meanwhile the least figures say more, because a disturbance only adds; a goal that they alone meet is marked so.
final class Row {
  /// What ours is to reach: `most` is the largest wanted ratio to the base, or the largest wanted figure.
  private record Goal(double most, boolean isRatio) {}

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
    BASE,
    OTHER
  }

  private final String title;
  private final String unit;
  private final int repetitions;
  private final List<Subject> subjects = new ArrayList<>();
  private @Nullable Goal goal;

  Row(String title, String unit, int repetitions) {
    this.title = title;
    this.unit = unit;
    this.repetitions = repetitions;
  }

  /// Wants a ratio of ours to the best base of at most this.
  Row ratio(double most) {
    goal = new Goal(most, true);
    return this;
  }

  /// Wants a figure of ours of at most this.
  Row figure(double most) {
    goal = new Goal(most, false);
    return this;
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
    return add("FJP " + name, Kind.BASE, measure);
  }

  /// What ours is compared with where that is not ForkJoinPool.
  Row base(String name, Measure measure) {
    return add(name, Kind.BASE, measure);
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
    // Each time another one begins: what the one before leaves behind, warm or cold, meets all.
    for (int i = 0; i < repetitions; i++) {
      for (int k = 0; k < subjects.size(); k++) {
        Subject subject = subjects.get((i + k) % subjects.size());
        subject.figures[i] = subject.measure.run();
      }
    }
    double median = best(Subject::median);
    double least = best(Subject::least);
    boolean met = true;
    System.out.printf(Locale.ROOT, "%n%s, %s%n", title, unit);
    for (Subject subject : subjects) {
      double ratio = subject.median() / median;
      double ratioOfLeast = subject.least() / least;
      String verdict = "";
      Goal wanted = goal;
      if (subject.kind == Kind.OURS && wanted != null) {
        boolean byMedian = (wanted.isRatio ? ratio : subject.median()) <= wanted.most;
        met = byMedian || (wanted.isRatio ? ratioOfLeast : subject.least()) <= wanted.most;
        verdict =
            String.format(
                Locale.ROOT,
                "  goal %s%.2f %s",
                wanted.isRatio ? "x" : "",
                wanted.most,
                byMedian ? "met" : met ? "met by the least" : "MISSED");
      }
      System.out.printf(
          Locale.ROOT,
          "  %-34s %10.1f  [%.1f .. %.1f]%s%s%n",
          subject.name,
          subject.median(),
          subject.least(),
          subject.most(),
          Double.isNaN(median)
              ? ""
              : String.format(Locale.ROOT, "  x%.2f  least x%.2f", ratio, ratioOfLeast),
          verdict);
    }
    return met;
  }

  private double best(java.util.function.ToDoubleFunction<Subject> figure) {
    return subjects.stream()
        .filter(subject -> subject.kind == Kind.BASE)
        .mapToDouble(figure)
        .min()
        .orElse(Double.NaN);
  }
}
