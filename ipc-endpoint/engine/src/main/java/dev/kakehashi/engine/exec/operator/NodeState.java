package dev.kakehashi.engine.exec.operator;

/// What the tasks of one execution share about one node of the plan. Opened before its stage starts, closed after the last stage.
public abstract class NodeState {
  public abstract void open(RunContext run);

  /// Frees what the execution holds. Idempotent.
  public abstract void close();
}
