package dev.kakehashi.benchmarks.engine;

import java.util.ArrayList;
import java.util.List;

/// Measures of heap and engine, taken in turn so that what disturbs the machine disturbs both.
///
/// @param warmUps turns that are not counted, 0 or more
/// @param repetitions turns that are counted, 1 or more
public record Repetitions(int warmUps, int repetitions) {
  /// One measurement.
  @FunctionalInterface
  public interface Measure {
    double take() throws Exception;
  }

  /// Medians of both.
  public record Medians(double heap, double engine) {}

  public Medians compare(Measure ofHeap, Measure ofEngine) throws Exception {
    List<Double> heaps = new ArrayList<>();
    List<Double> engines = new ArrayList<>();
    for (int i = 0; i < warmUps + repetitions; i++) {
      double heap = ofHeap.take();
      double engine = ofEngine.take();
      if (i >= warmUps) {
        heaps.add(heap);
        engines.add(engine);
      }
    }
    return new Medians(median(heaps), median(engines));
  }

  public double alone(Measure measure) throws Exception {
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < warmUps + repetitions; i++) {
      double value = measure.take();
      if (i >= warmUps) {
        values.add(value);
      }
    }
    return median(values);
  }

  public static double millis(Runnable work) {
    long began = System.nanoTime();
    work.run();
    return (System.nanoTime() - began) / 1e6;
  }

  public static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
