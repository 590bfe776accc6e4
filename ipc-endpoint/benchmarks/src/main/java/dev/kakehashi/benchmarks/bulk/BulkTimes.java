package dev.kakehashi.benchmarks.bulk;

import dev.kakehashi.benchmarks.engine.Repetitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Measures of all sides, taken in turn so that what disturbs the machine disturbs all.
final class BulkTimes {
  /// One measurement, in seconds.
  @FunctionalInterface
  interface Measure {
    double take() throws Exception;
  }

  private record Named(String name, Measure measure) {}

  private final List<Named> measures = new ArrayList<>();
  private final Map<String, List<Double>> taken = new TreeMap<>();

  /// Adds a measure behind those there are. One that is there already is not taken twice in a turn.
  void add(String name, Measure measure) {
    if (measures.stream().noneMatch(each -> each.name.equals(name))) {
      measures.add(new Named(name, measure));
    }
  }

  /// Takes the turns.
  ///
  /// @param warmUps turns that are not counted, 0 or more
  /// @param repetitions turns that are counted, 1 or more
  void run(int warmUps, int repetitions) throws Exception {
    for (int turn = 0; turn < warmUps + repetitions; turn++) {
      for (Named each : measures) {
        double value = each.measure.take();
        if (turn >= warmUps) {
          taken.computeIfAbsent(each.name, _ -> new ArrayList<>()).add(value);
        }
      }
    }
  }

  /// The median of a measure.
  double median(String name) {
    List<Double> values = taken.get(name);
    if (values == null) {
      throw new IllegalArgumentException("no measure \"" + name + "\"");
    }
    return Repetitions.median(values);
  }
}
