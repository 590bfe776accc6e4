package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;

/// An accumulator whose states grow with their rows, so that it should have few of them at a time. If its rows come in order, group after
/// group, it needs one.
public interface SerialAccumulator extends Accumulator {
  /// Empties all groups, which stay, and gives their memory back but for a little.
  void clear();

  /// Says how many rows group 0 will get whose last argument is not null. Called while the group is empty, before its rows come in their
  /// order.
  default void expect(long rows) {}
}
