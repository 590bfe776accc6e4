package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An accumulator that keeps an object for each group and takes rows one by one.
abstract class StateAccumulator<S> implements Accumulator {
  /// One per group.
  final List<S> states = new ArrayList<>();

  /// The state of a group without rows.
  abstract S newState();

  abstract void add(ColumnVector[] arguments, int row, S state);

  @Override
  public final void resize(int groupCount) {
    while (states.size() < groupCount) {
      states.add(newState());
    }
  }

  @Override
  public final void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    for (int i = 0; i < count; i++) {
      add(arguments, rows == null ? i : rows[i], states.get(groups[i]));
    }
  }

  @Override
  public final void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    S state = states.get(group);
    for (int i = 0; i < count; i++) {
      add(arguments, rows == null ? i : rows[i], state);
    }
  }

  @Override
  public void close() {}
}
