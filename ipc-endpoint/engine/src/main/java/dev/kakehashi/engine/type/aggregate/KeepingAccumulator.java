package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.vector.VectorBatch;

/// An accumulator that keeps what its rows have, and can give it back as rows, so that it may wait on the disk.
public interface KeepingAccumulator extends SerialAccumulator {
  /// Most bytes of values in a batch of rows that are given back, unless one row has more.
  int REPLAY_BYTES = 64 << 10;

  /// Bytes of the JVM's heap that the states hold, of those of [#memoryBytes()], roughly.
  long heapBytes();

  /// Bytes of the JVM's heap that making a group's result takes for a moment, besides its state, roughly; never much too few.
  long resultBytes(int group);

  /// Gives back what a group has, as rows that make the same of an empty group; the group stays as it is.
  ///
  /// @param out gets the arguments in its first columns; what is left in it at the end is the caller's to take
  /// @param take called when `out` is full, to empty it
  void replay(int group, VectorBatch out, Runnable take);
}
