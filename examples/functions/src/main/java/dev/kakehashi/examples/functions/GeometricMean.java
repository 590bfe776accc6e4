package dev.kakehashi.examples.functions;

import dev.kakehashi.application.Aggregate;
import org.jspecify.annotations.Nullable;

/// The nth root of the product of n numbers; null of none.
final class GeometricMean implements Aggregate<Double, GeometricMean.State, Double> {
  /// Numbers so far, and the sum of their logarithms.
  static final class State {
    private long count;
    private double logarithms;
  }

  @Override
  public State begin() {
    return new State();
  }

  @Override
  public State add(State state, Double value) {
    state.count++;
    state.logarithms += Math.log(value);
    return state;
  }

  @Override
  public State merge(State state, State other) {
    state.count += other.count;
    state.logarithms += other.logarithms;
    return state;
  }

  @Override
  public @Nullable Double result(State state) {
    return state.count == 0 ? null : Math.exp(state.logarithms / state.count);
  }
}
