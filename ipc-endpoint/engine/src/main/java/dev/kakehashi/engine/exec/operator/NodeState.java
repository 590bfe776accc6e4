package dev.kakehashi.engine.exec.operator;

/// State of one node of the plan that the tasks of one execution share. Opened before its stage starts, closed after the last stage.
public abstract class NodeState {
  public abstract void open(RunContext run);

  /// Frees what the execution holds. Idempotent.
  public abstract void close();
}
