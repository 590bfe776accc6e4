package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.queue.QueueChanges;
import java.util.Arrays;

/// The changes of queues that one transaction has made, and where they stand among its other changes. Used by the thread that has the
/// transaction.
///
/// Marks of queues are of their own kind. Where a mark of the transaction is asked for and queues have changed since the last one, that is
/// a step, which counts like one change of the catalogue.
final class OwnQueues {
  private static final int FIRST_STEPS = 4;

  private final QueueChanges changes;

  /// For each step: the mark of the queues, and the number of steps and changes of the catalogue with it.
  private long[] marks = new long[FIRST_STEPS];

  private int[] numbers = new int[FIRST_STEPS];
  private int steps;

  /// They hold the leases that they end, and are written to a record as they are.
  private boolean ready;

  OwnQueues(QueueChanges changes) {
    this.changes = changes;
  }

  QueueChanges changes() {
    return changes;
  }

  boolean isEmpty() {
    return !ready && changes.isEmpty();
  }

  /// Makes them ready for the commit, or the preparation.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException see [QueueChanges#prepareCommit]
  void prepareCommit() {
    changes.prepareCommit();
    ready = true;
  }

  /// They were made ready by an earlier run.
  void recovered() {
    ready = true;
  }

  /// Number of steps and changes of the catalogue.
  ///
  /// @param definitions changes of the catalogue
  int mark(int definitions) {
    long now = changes.mark();
    if (now != (steps == 0 ? 0 : marks[steps - 1])) {
      if (steps == marks.length) {
        marks = Arrays.copyOf(marks, 2 * steps);
        numbers = Arrays.copyOf(numbers, 2 * steps);
      }
      marks[steps] = now;
      numbers[steps] = definitions + steps + 1;
      steps++;
    }
    return definitions + steps;
  }

  /// Rolls back to what [#mark] gave.
  ///
  /// @return changes of the catalogue that stay
  int rollbackTo(int number) {
    int kept = steps;
    while (kept > 0 && numbers[kept - 1] > number) {
      kept--;
    }
    long mark = kept == 0 ? 0 : marks[kept - 1];
    if (changes.mark() != mark) {
      changes.rollbackTo(mark);
    }
    steps = kept;
    return number - kept;
  }

  /// The transaction has ended; what was not in its record was nothing, or rolled back.
  void ended(boolean committed) {
    changes.ended(committed && ready);
  }
}
