package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An accumulator that keeps an object for each group with rows and takes rows one by one.
abstract class StateAccumulator<S> implements Accumulator {
  /// One per group; null: no row has needed it yet.
  private final List<@Nullable S> states = new ArrayList<>();

  /// How many are not null.
  private int made;

  /// The state of a group without rows.
  abstract S newState();

  abstract void add(ColumnVector[] arguments, int row, S state);

  /// A group's state, which is made if there is none.
  final S state(int group) {
    S state = states.get(group);
    if (state == null) {
      state = newState();
      states.set(group, state);
      made++;
    }
    return state;
  }

  /// A group's state; null if no row has needed it.
  final @Nullable S present(int group) {
    return states.get(group);
  }

  /// How many groups have a state.
  final int stateCount() {
    return made;
  }

  /// Forgets all states.
  final void forget() {
    if (made > 0) {
      Collections.fill(states, null);
      made = 0;
    }
  }

  @Override
  public final void resize(int groupCount) {
    while (states.size() < groupCount) {
      states.add(null);
    }
  }

  @Override
  public final void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    for (int i = 0; i < count; i++) {
      add(arguments, rows == null ? i : rows[i], state(groups[i]));
    }
  }

  @Override
  public final void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    if (count == 0) {
      return;
    }
    S state = state(group);
    for (int i = 0; i < count; i++) {
      add(arguments, rows == null ? i : rows[i], state);
    }
  }

  @Override
  public void close() {}
}
