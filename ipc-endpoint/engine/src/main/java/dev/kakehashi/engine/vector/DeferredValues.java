package dev.kakehashi.engine.vector;

import java.util.BitSet;

/// By-reference values of a batch that are where its filler has found them, until somebody needs them: most rows of a scan are left out by
/// its filter before. Until then the words of a column are not addresses, and nobody else may read them. Confined to the batch's task.
public interface DeferredValues {
  /// Makes the words of a column addresses, in the live rows of a batch.
  void copy(VectorBatch batch, int column);

  /// The same for all columns.
  ///
  /// @param compact numerics of these stay as they are: compact words, or addresses with low bits set. Compact texts do, too
  void copyAll(VectorBatch batch, BitSet compact);

  /// Whether a word that is not copied yet stands for its value: while [#source()] is the same, equal ones of a column are equal values.
  boolean identifies(long word);

  /// The table whose values they are.
  Object source();
}
