package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;

/// An accumulator whose result does not depend on how its rows were put together, so that the states of neighbouring runs of rows give that
/// of both. Its states stay small.
public interface MergeableGroups extends Accumulator {
  /// Empties a group.
  void clear(int group);

  /// Adds the state of a group to that of another one, which has the rows before.
  ///
  /// @param from stays as it is; not `group`
  void merge(int group, int from);
}
