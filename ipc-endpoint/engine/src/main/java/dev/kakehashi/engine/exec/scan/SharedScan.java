package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.NodeState;

/// A scan whose rows the tasks of a stage share.
public abstract class SharedScan extends NodeState {
  /// Work that there is for the tasks, in pages of a table. Called after the stages before it have run, if more than one task may run its
  /// stage.
  ///
  /// @param workers most tasks that there may be
  public abstract long pages(int workers);

  /// Before the tasks that scan it begin: how many they are, if not one. [#pages] has been called since it was opened.
  public abstract void divide(int tasks);
}
