package dev.kakehashi.engine.txn;

import java.util.Arrays;

/// Times of actions in a transaction, in terms of its savepoints. Sessions learn from it whether a rollback to a savepoint has undone the
/// values that they keep.
///
/// Time goes on with every savepoint and every rollback to one. Changes at a time that a rollback went back over are undone, and that time
/// does not come again. Written by the operation that has the transaction's turn, read by any thread.
final class SavepointClock {
  private static final long[] NOTHING = {};

  private volatile long now;

  /// First and last times that were undone, in pairs: ascending, and apart from each other. Replaced as a whole.
  private volatile long[] undone = NOTHING;

  long now() {
    return now;
  }

  /// A savepoint was set.
  ///
  /// @return the first time after it
  long savepoint() {
    long next = now + 1;
    now = next;
    return next;
  }

  /// Undoes all that was done from a time on.
  void rollbackTo(long first) {
    long[] before = undone;
    int kept = before.length;
    while (kept > 0 && before[kept - 2] >= first) {
      kept -= 2;
    }
    long[] next = Arrays.copyOf(before, kept + 2);
    next[kept] = first;
    long last = now;
    next[kept + 1] = last;
    undone = next;
    now = last + 1;
  }

  boolean isUndone(long time) {
    long[] pairs = undone;
    for (int i = 0; i < pairs.length; i += 2) {
      if (time >= pairs[i] && time <= pairs[i + 1]) {
        return true;
      }
    }
    return false;
  }
}
