package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.vector.VectorBatch;

/// The end of a statement's last chains.
public interface BatchConsumer {
  /// Takes a batch; false if not all of it could be taken now: call again with the same batch when there is room.
  boolean accept(VectorBatch batch);

  /// The input has ended; false if there is no room for what is left: call again.
  boolean finish();

  /// Gives back what is held, after a failure.
  void abandon();

  /// Ends after the failure of a row of the input: what was taken is of rows before it, and is handed on where the reader gets rows one by
  /// one.
  default void endBeforeFailure() {
    abandon();
  }

  /// Rows taken.
  long rows();
}
