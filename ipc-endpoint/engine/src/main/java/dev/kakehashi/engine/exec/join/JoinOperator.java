package dev.kakehashi.engine.exec.join;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RowsBeforeFailure;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Probes the right side of a join with the rows of the left.
///
/// Candidate pairs are collected into a batch of left columns followed by right columns, the condition narrows it, and what is left are
/// matches. INNER, LEFT, RIGHT and FULL output the pairs; SEMI and ANTI narrow the left batch instead. After a left batch LEFT, FULL output
/// its rows without a match; after the last one RIGHT, FULL output the right rows without one.
///
/// If the right side is in files all of this happens for one pair of files after another, see [JoinPartitions], or, without keys, for each
/// left batch with one piece of the right side after another, see [JoinPieces].
public final class JoinOperator extends Operator {
  private static final int NEW_ROW = -2;
  private static final int NO_ROW = -1;

  private final Operator left;
  private final JoinBreaker breaker;

  /// The right rows that are probed now.
  private JoinTable right;

  private @Nullable JoinPartitions partitions;
  private @Nullable JoinPieces pieces;
  private final JoinKind kind;
  private final int[] leftTypeOids;
  private final int[] leftKeys;
  private final int leftColumns;
  private final int rightColumns;
  private final @Nullable RowFilter condition;
  private final RowsBeforeFailure before;
  private final VectorBatch pairs;
  private final int[] pairLeft = new int[VectorBatch.CAPACITY];
  private final int[] pairRight = new int[VectorBatch.CAPACITY];
  private final boolean[] leftMatched = new boolean[VectorBatch.CAPACITY];
  private final long[] leftHashes = new long[VectorBatch.CAPACITY];
  private final boolean[] leftKeyNull = new boolean[VectorBatch.CAPACITY];

  private @Nullable VectorBatch input;

  /// Next live row of the input to probe, and the candidate to go on with.
  private int probe;

  private int candidate;
  private int unmatchedRight;
  private boolean leftEnded;

  /// Whether the right rows that no task has found come from here.
  private boolean givesUnmatchedRight;

  private boolean begun;

  public JoinOperator(
      Operator left,
      JoinBreaker breaker,
      JoinKind kind,
      int[] leftKeys,
      int[] leftTypeOids,
      @Nullable Expr condition,
      EvalContext context) {
    this.left = left;
    this.breaker = breaker;
    this.right = breaker.table();
    this.kind = kind;
    this.leftKeys = leftKeys;
    this.leftTypeOids = leftTypeOids;
    this.leftColumns = leftTypeOids.length;
    this.rightColumns = right.rows().columnCount();
    this.condition = condition == null ? null : RowFilter.of(condition, context);
    this.before = new RowsBeforeFailure(this.condition, context);
    this.pairs = new VectorBatch(leftColumns + rightColumns);
  }

  @Override
  public void expectRows(long rows) {
    left.expectRows(rows);
  }

  @Override
  public void open() {
    begun = false;
    before.open();
    left.open();
  }

  private void begin(JoinTable table) {
    right = table;
    input = null;
    leftEnded = false;
    unmatchedRight = 0;
    givesUnmatchedRight = false;
  }

  public static boolean marksRight(JoinKind kind) {
    return kind == JoinKind.RIGHT || kind == JoinKind.FULL;
  }

  @Override
  public @Nullable VectorBatch next() {
    if (!begun) {
      begun = true;
      begin(breaker.table());
      if (!breaker.spills().isEmpty()) {
        leftEnded = true;
        distribute();
      }
      if (!breaker.files().isEmpty()) {
        pieces = new JoinPieces(breaker, breaker.files(), rightColumns, breaker.memory().user());
      }
    }
    while (true) {
      VectorBatch found = nextOfTable();
      JoinPartitions parts = partitions;
      if (found != null || parts == null || !parts.next()) {
        return found;
      }
      pieces = parts.pieces();
      begin(pieces.table());
    }
  }

  /// Distributes the left rows over files as the right ones are.
  private void distribute() {
    boolean keepsNullKeys = kind == JoinKind.LEFT || kind == JoinKind.FULL || kind == JoinKind.ANTI;
    JoinPartitions parts = new JoinPartitions(breaker, leftTypeOids, leftKeys, marksRight(kind));
    partitions = parts;
    VectorBatch batch = left.next();
    while (batch != null) {
      Interrupts.check();
      hashKeys(batch);
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        if (keepsNullKeys || !leftKeyNull[k]) {
          parts.add(leftKeyNull[k] ? 0 : leftHashes[k], batch, row(batch, k));
        }
      }
      batch = left.next();
    }
    parts.begin();
  }

  private @Nullable VectorBatch nextOfTable() {
    while (!leftEnded) {
      before.check();
      // Many pairs may be looked at before there is one to hand on.
      Interrupts.check();
      VectorBatch batch = input;
      if (batch == null) {
        JoinPartitions parts = partitions;
        batch = parts == null ? left.next() : parts.nextLeft();
        if (batch == null) {
          leftEnded = true;
          rewind();
          givesUnmatchedRight = marksRight(kind) && (parts != null || breaker.isLastProbe());
          break;
        }
        rewind();
        begin(batch);
      }
      if (fillPairs(batch)) {
        match();
        if (outputsPairs() && pairs.liveRows() > 0) {
          return pairs;
        }
        continue;
      }
      if (nextPiece()) {
        probe = 0;
        candidate = NEW_ROW;
        continue;
      }
      input = null;
      VectorBatch rest = endOfBatch(batch);
      if (rest != null) {
        return rest;
      }
    }
    return givesUnmatchedRight ? nextUnmatchedRight() : null;
  }

  private void rewind() {
    if (pieces != null) {
      pieces.rewind();
      right = pieces.table();
    }
  }

  /// Goes on with the next piece of the right side; false if this is the last or the only one.
  private boolean nextPiece() {
    if (pieces == null || !pieces.next()) {
      return false;
    }
    right = pieces.table();
    return true;
  }

  private boolean outputsPairs() {
    return kind != JoinKind.SEMI && kind != JoinKind.ANTI;
  }

  private void begin(VectorBatch batch) {
    input = batch;
    probe = 0;
    candidate = NEW_ROW;
    int live = batch.liveRows();
    Arrays.fill(leftMatched, 0, live, false);
    hashKeys(batch);
  }

  private void hashKeys(VectorBatch batch) {
    int live = batch.liveRows();
    if (leftKeys.length > 0) {
      Arrays.fill(leftHashes, 0, live, 0);
      Arrays.fill(leftKeyNull, 0, live, false);
      for (int i = 0; i < leftKeys.length; i++) {
        ColumnVector key = batch.columns[leftKeys[i]];
        for (int k = 0; k < live; k++) {
          int row = row(batch, k);
          if (key.isNull(row)) {
            leftKeyNull[k] = true;
          } else {
            leftHashes[k] =
                JoinTable.combine(leftHashes[k], Ordering.hash(right.keyKind(i), key.words[row]));
          }
        }
      }
    }
  }

  private static int row(VectorBatch batch, int k) {
    return batch.selected < 0 ? k : batch.selection[k];
  }

  /// Collects the next candidate pairs; false when the left batch is through and there are none.
  private boolean fillPairs(VectorBatch batch) {
    int live = batch.liveRows();
    int count = 0;
    while (probe < live && count < VectorBatch.CAPACITY) {
      boolean decided = !outputsPairs() && condition == null && leftMatched[probe];
      candidate = decided ? NO_ROW : nextCandidate(batch);
      if (candidate == NO_ROW) {
        probe++;
        candidate = NEW_ROW;
        continue;
      }
      pairLeft[count] = probe;
      pairRight[count++] = candidate;
      if (!outputsPairs() && condition == null) {
        leftMatched[probe] = true;
      }
    }
    if (count == 0) {
      return false;
    }
    gather(batch, count);
    return true;
  }

  /// Candidate after the current one for row `probe`, equal keys checked; NO_ROW at the end.
  private int nextCandidate(VectorBatch batch) {
    if (leftKeys.length == 0) {
      int next = candidate == NEW_ROW ? 0 : candidate + 1;
      return next < right.rows().size() ? next : NO_ROW;
    }
    if (leftKeyNull[probe]) {
      return NO_ROW;
    }
    long hash = leftHashes[probe];
    int next = candidate == NEW_ROW ? right.first(hash) : right.next(candidate);
    while (next >= 0 && (right.hash(next) != hash || !(right.isExact() || sameKey(batch, next)))) {
      next = right.next(next);
    }
    return next;
  }

  private boolean sameKey(VectorBatch batch, int rightRow) {
    int row = row(batch, probe);
    for (int i = 0; i < leftKeys.length; i++) {
      if (!Ordering.equal(
          right.keyKind(i),
          batch.columns[leftKeys[i]].words[row],
          right.rows().word(right.keyColumn(i), rightRow))) {
        return false;
      }
    }
    return true;
  }

  private void gather(VectorBatch batch, int count) {
    pairs.reset();
    pairs.size = count;
    if (!outputsPairs() && condition == null) {
      return;
    }
    for (int c = 0; c < leftColumns; c++) {
      ColumnVector from = batch.columns[c];
      ColumnVector to = pairs.columns[c];
      for (int i = 0; i < count; i++) {
        int row = row(batch, pairLeft[i]);
        if (from.isNull(row)) {
          to.setNull(i);
        } else {
          to.words[i] = from.words[row];
        }
      }
    }
    right.rows().read(pairRight, count, pairs, leftColumns);
  }

  /// Applies the condition and notes who has found a match.
  private void match() {
    before.narrow(pairs);
    int live = pairs.liveRows();
    boolean noteRight = marksRight(kind);
    for (int k = 0; k < live; k++) {
      int pair = row(pairs, k);
      leftMatched[pairLeft[pair]] = true;
      if (noteRight) {
        right.setMatched(pairRight[pair]);
      }
    }
  }

  /// Rows of the left batch that come out once all its pairs are known.
  private @Nullable VectorBatch endOfBatch(VectorBatch batch) {
    return switch (kind) {
      case INNER, RIGHT -> null;
      case SEMI, ANTI -> {
        keep(batch, kind == JoinKind.SEMI);
        yield batch.liveRows() == 0 ? null : batch;
      }
      case LEFT, FULL -> leftWithNulls(batch);
    };
  }

  private void keep(VectorBatch batch, boolean wanted) {
    int live = batch.liveRows();
    int kept = 0;
    for (int k = 0; k < live; k++) {
      if (leftMatched[k] == wanted) {
        batch.selection[kept++] = row(batch, k);
      }
    }
    batch.selected = kept;
  }

  private @Nullable VectorBatch leftWithNulls(VectorBatch batch) {
    int live = batch.liveRows();
    pairs.reset();
    for (int k = 0; k < live; k++) {
      if (!leftMatched[k]) {
        int row = row(batch, k);
        int out = pairs.size++;
        for (int c = 0; c < leftColumns; c++) {
          if (batch.columns[c].isNull(row)) {
            pairs.columns[c].setNull(out);
          } else {
            pairs.columns[c].words[out] = batch.columns[c].words[row];
          }
        }
        for (int c = 0; c < rightColumns; c++) {
          pairs.columns[leftColumns + c].setNull(out);
        }
      }
    }
    return pairs.size == 0 ? null : pairs;
  }

  private @Nullable VectorBatch nextUnmatchedRight() {
    while (true) {
      VectorBatch found = nextUnmatchedOfTable();
      if (found != null || !nextPiece()) {
        return found;
      }
      unmatchedRight = 0;
    }
  }

  private @Nullable VectorBatch nextUnmatchedOfTable() {
    pairs.reset();
    MaterializedRows rows = right.rows();
    while (unmatchedRight < rows.size() && pairs.size < VectorBatch.CAPACITY) {
      int row = unmatchedRight++;
      if (!right.isMatched(row)) {
        int out = pairs.size++;
        for (int c = 0; c < leftColumns; c++) {
          pairs.columns[c].setNull(out);
        }
        rows.read(row, pairs, out, leftColumns);
      }
    }
    return pairs.size == 0 ? null : pairs;
  }

  @Override
  public void close() {
    left.close();
    if (partitions != null) {
      partitions.close();
      partitions = null;
    }
    if (pieces != null) {
      // Pieces of a pair are closed already: a second close does no harm.
      pieces.close();
      pieces = null;
    }
    pairs.close();
    before.close();
    input = null;
  }
}
