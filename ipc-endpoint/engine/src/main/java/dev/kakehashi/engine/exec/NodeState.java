package dev.kakehashi.engine.exec;

/// What the tasks of one execution share about one node of the plan. Opened before its stage starts, closed after the last stage.
abstract class NodeState {
  abstract void open(Execution execution);

  /// Frees what the execution holds. Idempotent.
  abstract void close();
}
