package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.DeferredValues;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// A condition on one column by reference that remembers what it has said of short values, and of those that many rows have: they are asked
/// about by their words, and most are never copied. It asks only the condition if values do not come again.
final class RememberingFilter extends RowFilter {
  private static final int SLOTS = 1024;

  /// Rows after which it looks whether remembering pays.
  private static final int FIRST_LOOK = 4096;

  private static final byte UNKNOWN = 2;

  private final RowFilter condition;
  private final Evaluator evaluator;
  private final int column;

  /// The table whose words are remembered; null: none are.
  private @Nullable Object source;

  /// A word in the place of its hash, and the answer to it; 0: none.
  private long[] words = {};

  private byte[] answers = {};

  /// Live rows of the batch, what is known of each, and of those of which nothing is their number among the live ones and their word.
  private int[] rows = {};

  private byte[] verdicts = {};
  private int[] asked = {};
  private long[] askedWords = {};

  private long looked;
  private long missed;
  private boolean pays = true;

  RememberingFilter(RowFilter condition, Evaluator evaluator, int column) {
    this.condition = condition;
    this.evaluator = evaluator;
    this.column = column;
  }

  @Override
  public boolean isRepeatable() {
    return condition.isRepeatable();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // of which rows the words are
  public void apply(VectorBatch batch) {
    DeferredValues deferred = batch.deferred;
    if (deferred == null || !pays) {
      condition.apply(batch);
      return;
    }
    if (deferred.source() != source) {
      forget(deferred.source());
    }
    int live = batch.liveRows();
    int unknown = recall(batch, deferred, live);
    looked += live;
    missed += unknown;
    pays = looked < FIRST_LOOK || 2 * missed < looked;
    if (unknown > 0) {
      ask(batch, deferred, live, unknown);
    }
    int kept = 0;
    for (int k = 0; k < live; k++) {
      batch.selection[kept] = rows[k];
      kept += verdicts[k];
    }
    batch.selected = kept == batch.size ? -1 : kept;
  }

  private void forget(Object next) {
    source = next;
    words = new long[SLOTS];
    answers = new byte[SLOTS];
    if (rows.length == 0) {
      rows = new int[VectorBatch.CAPACITY];
      verdicts = new byte[VectorBatch.CAPACITY];
      asked = new int[VectorBatch.CAPACITY];
      askedWords = new long[VectorBatch.CAPACITY];
    }
  }

  private static int slot(long word) {
    return (int) RawMemory.mix(word) & (SLOTS - 1);
  }

  /// @return live rows of which nothing is known
  private int recall(VectorBatch batch, DeferredValues deferred, int live) {
    long[] ofColumn = batch.columns[column].words;
    int unknown = 0;
    for (int k = 0; k < live; k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      rows[k] = row;
      long word = ofColumn[row];
      boolean identifies = deferred.identifies(word);
      int slot = slot(word);
      if (identifies && words[slot] == word) {
        verdicts[k] = answers[slot];
      } else {
        verdicts[k] = UNKNOWN;
        asked[unknown] = k;
        askedWords[unknown++] = identifies ? word : 0;
      }
    }
    return unknown;
  }

  /// Asks about the rows of which nothing is known. A failure leaves the batch as it was.
  private void ask(VectorBatch batch, DeferredValues deferred, int live, int unknown) {
    int selected = batch.selected;
    for (int i = 0; i < unknown; i++) {
      batch.selection[i] = rows[asked[i]];
    }
    batch.selected = unknown;
    boolean answered = false;
    try {
      deferred.copy(batch, column);
      ColumnVector truth = evaluator.evaluate(batch);
      for (int i = 0; i < unknown; i++) {
        int row = batch.selection[i];
        byte answer = (byte) (truth.words[row] != 0 && !truth.isNull(row) ? 1 : 0);
        verdicts[asked[i]] = answer;
        if (askedWords[i] != 0) {
          int slot = slot(askedWords[i]);
          words[slot] = askedWords[i];
          answers[slot] = answer;
        }
      }
      answered = true;
    } finally {
      if (!answered) {
        System.arraycopy(rows, 0, batch.selection, 0, live);
        batch.selected = selected;
      }
    }
  }
}
