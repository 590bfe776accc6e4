package dev.kakehashi.scheduler.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One question, asked of several schedulers in turn: each repetition measures every one of them, so that whatever
/// else the machine does meets all. Reports medians and extremes, and the ratios of medians and of least figures to
/// the best of what the row compares with, mostly ForkJoinPool's settings. On a machine that does something else
/// meanwhile the least figures say more, because a disturbance only adds; a goal that they alone meet is marked so. A goal
/// beside a floor, the least that the machine allows any scheduler, is marked where the floor misses it, too.
///
/// A row may have several figures of the same runs, as the median and a percentile.
final class Row {
  private static final int TURNS = 10;

  /// Goal of ours: `most` is the largest wanted ratio to the base, or the largest wanted figure; of the first figures of the row.
  private record Goal(double most, boolean isRatio, int parts) {}

  /// One run of one scheduler on the row's work; the figure's unit is the row's.
  interface Measure {
    double run() throws Exception;

    /// The figures of a row that has one.
    default Measures all() {
      return () -> new double[] {run()};
    }
  }

  /// One run that gives all the figures of a row, or of a row of percentiles some samples.
  interface Measures {
    double[] run() throws Exception;
  }

  /// @param figures sorted after the measurement, those of each title
  private record Subject(String name, Kind kind, Measures measures, double[][] figures) {
    double median(int part) {
      return figures[part][figures[part].length / 2];
    }

    double least(int part) {
      return figures[part][0];
    }

    double most(int part) {
      return figures[part][figures[part].length - 1];
    }
  }

  private enum Kind {
    OURS,
    OURS_TOO,
    BASE,
    OTHER,
    FLOOR
  }

  private final List<String> titles;
  private final String unit;
  private final int repetitions;
  private final List<Subject> subjects = new ArrayList<>();
  private @Nullable Goal goal;
  private int @Nullable [] percents;

  Row(String title, String unit, int repetitions) {
    this(List.of(title), unit, repetitions);
  }

  /// With a figure for each title.
  Row(List<String> titles, String unit, int repetitions) {
    this.titles = titles;
    this.unit = unit;
    this.repetitions = repetitions;
  }

  /// The figures are these percentiles of what the runs return: of the samples of several short runs, which take turns with
  /// those of the others, so that all meet the same machine.
  Row percentiles(int... wanted) {
    percents = wanted;
    return this;
  }

  /// Wants a ratio of ours to the best base of at most this.
  Row ratio(double most) {
    goal = new Goal(most, true, titles.size());
    return this;
  }

  /// As [#ratio], of the first figure alone.
  Row ratioOfFirst(double most) {
    goal = new Goal(most, true, 1);
    return this;
  }

  /// Wants a figure of ours of at most this.
  Row figure(double most) {
    goal = new Goal(most, false, titles.size());
    return this;
  }

  /// Ours, which the goal is about.
  Row ours(Measure measure) {
    return oursAll(measure.all());
  }

  /// Ours in another way, for comparison.
  Row oursToo(String name, Measure measure) {
    return add(name, Kind.OURS_TOO, measure.all());
  }

  /// A setting of ForkJoinPool, or a way to use it.
  Row forkJoin(String name, Measure measure) {
    return forkJoinAll(name, measure.all());
  }

  /// Base that ours is compared with, where that is not ForkJoinPool.
  Row base(String name, Measure measure) {
    return baseAll(name, measure.all());
  }

  /// Another scheduler of the JDK.
  Row other(String name, Measure measure) {
    return otherAll(name, measure.all());
  }

  /// Floor: no scheduler can do it in less.
  Row floor(String name, Measure measure) {
    return floorAll(name, measure.all());
  }

  /// As [#ours(Measure)], [#forkJoin], [#other] and [#floor], for a row with several figures.
  Row oursAll(Measures measures) {
    return add("ours", Kind.OURS, measures);
  }

  Row forkJoinAll(String name, Measures measures) {
    return add("FJP " + name, Kind.BASE, measures);
  }

  Row baseAll(String name, Measures measures) {
    return add(name, Kind.BASE, measures);
  }

  Row otherAll(String name, Measures measures) {
    return add(name, Kind.OTHER, measures);
  }

  Row floorAll(String name, Measures measures) {
    return add("floor: " + name, Kind.FLOOR, measures);
  }

  private Row add(String name, Kind kind, Measures measures) {
    subjects.add(new Subject(name, kind, measures, new double[titles.size()][repetitions]));
    return this;
  }

  /// Measures and prints.
  void run() throws Exception {
    for (int warmUp = 0; warmUp < 2; warmUp++) {
      for (Subject subject : subjects) {
        subject.measures.run();
      }
    }
    // Each time another one begins: what the one before leaves behind, warm or cold, meets all.
    for (int i = 0; i < repetitions; i++) {
      List<DoubleStream.Builder> samples =
          Stream.generate(DoubleStream::builder).limit(subjects.size()).toList();
      for (int turn = 0; turn < (percents == null ? 1 : TURNS); turn++) {
        for (int k = 0; k < subjects.size(); k++) {
          int which = (i + turn + k) % subjects.size();
          for (double sample : subjects.get(which).measures.run()) {
            samples.get(which).add(sample);
          }
        }
      }
      for (int which = 0; which < subjects.size(); which++) {
        double[] figures = figures(samples.get(which).build().toArray());
        for (int part = 0; part < figures.length; part++) {
          subjects.get(which).figures[part][i] = figures[part];
        }
      }
    }
    for (Subject subject : subjects) {
      for (double[] figures : subject.figures) {
        Arrays.sort(figures);
      }
    }
    for (int part = 0; part < titles.size(); part++) {
      print(part);
    }
  }

  private double[] figures(double[] samples) {
    int[] wanted = percents;
    if (wanted == null) {
      return samples;
    }
    Arrays.sort(samples);
    return Arrays.stream(wanted)
        .mapToDouble(percent -> samples[(samples.length - 1) * percent / 100])
        .toArray();
  }

  private void print(int part) {
    double median = best(Kind.BASE, subject -> subject.median(part));
    double least = best(Kind.BASE, subject -> subject.least(part));
    System.out.printf(Locale.ROOT, "%n%s, %s%n", titles.get(part), unit);
    for (Subject subject : subjects) {
      double ratio = subject.median(part) / median;
      double ratioOfLeast = subject.least(part) / least;
      Goal wanted = subject.kind == Kind.OURS && goal != null && part < goal.parts ? goal : null;
      System.out.printf(
          Locale.ROOT,
          "  %-36s %10.1f  [%.1f .. %.1f]%s%s%n",
          subject.name,
          subject.median(part),
          subject.least(part),
          subject.most(part),
          Double.isNaN(median)
              ? ""
              : String.format(Locale.ROOT, "  x%.2f  least x%.2f", ratio, ratioOfLeast),
          wanted == null
              ? ""
              : wanted.isRatio
                  ? verdict(wanted, ratio, ratioOfLeast, floor(part) / median)
                  : verdict(wanted, subject.median(part), subject.least(part), floor(part)));
    }
  }

  private double floor(int part) {
    return best(Kind.FLOOR, subject -> subject.median(part));
  }

  private static String verdict(Goal wanted, double byMedian, double byLeast, double byFloor) {
    String outcome =
        byMedian <= wanted.most
            ? "met"
            : byLeast <= wanted.most
                ? "met by the least"
                : byFloor > wanted.most ? "MISSED, also by the floor" : "MISSED";
    return String.format(
        Locale.ROOT, "  goal %s%.2f %s", wanted.isRatio ? "x" : "", wanted.most, outcome);
  }

  private double best(Kind kind, ToDoubleFunction<Subject> figure) {
    return subjects.stream()
        .filter(subject -> subject.kind == kind)
        .mapToDouble(figure)
        .min()
        .orElse(Double.NaN);
  }
}
