package dev.kakehashi.engine.exec.join;

import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.Spill;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A join whose right side is in files: distributes the left rows in the same way, then hands out one pair of files after another. The
/// right file comes as a table, the left one as batches. A right file that is too large for a table is distributed again, together with its
/// left one. Rows that cannot be divided, because their keys are equal, come in several tables, see [JoinPieces]. Confined to the task of
/// the left side.
final class JoinPartitions implements AutoCloseable {
  private final JoinBreaker breaker;
  private final MemoryAccount memory;
  private final ColumnKind[] leftKinds;
  private final ColumnKind[] rightKinds;
  private final int[] leftKeys;
  private final boolean keepsRight;
  private final Spill first;
  private final ArrayDeque<Pair> pending = new ArrayDeque<>();
  private final VectorBatch batch;

  /// Columns of a left row, and its row identifier.
  private final ColumnVector[] leftRow;

  /// Files that are being written and belong to no pair yet.
  private final List<Spill> dividing = new ArrayList<>();

  private @Nullable Pair current;
  private @Nullable JoinPieces pieces;
  private SpillFile.@Nullable Reader reader;

  /// Rows of both sides that can only match each other.
  ///
  /// @param owned whether the right files are this task's own, not shared with other tasks
  /// @param divisible whether distributing its rows again may help
  private record Pair(
      List<SpillFile> right, boolean owned, SpillFile left, int level, boolean divisible) {
    long rightBytes() {
      return right.stream().mapToLong(SpillFile::bytes).sum();
    }

    long rightRows() {
      return right.stream().mapToLong(SpillFile::rows).sum();
    }

    void close() {
      left.close();
      if (owned) {
        right.forEach(SpillFile::close);
      }
    }
  }

  /// @param keepsRight whether right rows without a match come out
  JoinPartitions(JoinBreaker breaker, int[] leftTypeOids, int[] leftKeys, boolean keepsRight) {
    this.breaker = breaker;
    this.memory = breaker.memory().user();
    this.rightKinds = breaker.kinds();
    this.leftKeys = leftKeys;
    this.keepsRight = keepsRight;
    int[] oids = Arrays.copyOf(leftTypeOids, leftTypeOids.length + 1);
    oids[leftTypeOids.length] = TypeOid.INT8;
    this.leftKinds = MaterializedRows.kinds(oids);
    this.leftRow = new ColumnVector[oids.length];
    leftRow[leftTypeOids.length] = new ColumnVector(VectorBatch.CAPACITY);
    this.batch = new VectorBatch(leftTypeOids.length);
    this.first = new Spill(memory, leftKinds, 0);
  }

  /// Takes a row of the left side.
  ///
  /// @param hash of its keys; 0 if one is null
  void add(long hash, VectorBatch from, int row) {
    append(first, hash, from, row);
  }

  private void append(Spill to, long hash, VectorBatch from, int row) {
    int columns = leftRow.length - 1;
    System.arraycopy(from.columns, 0, leftRow, 0, columns);
    leftRow[columns].words[row] = from.rowIds[row];
    to.append(hash, leftRow, row);
  }

  /// All left rows were added.
  void begin() {
    first.finish();
    for (int p = Spill.PARTITIONS - 1; p >= 0; p--) {
      List<SpillFile> right = new ArrayList<>();
      for (Spill spill : breaker.spills()) {
        right.add(spill.file(p));
      }
      pending.push(new Pair(right, false, first.file(p), 0, true));
    }
  }

  /// Goes to the next pair; false if there is none.
  boolean next() {
    endPair();
    while (!pending.isEmpty()) {
      Pair pair = pending.pop();
      current = pair;
      if (pair.left().rows() == 0 && !keepsRight) {
        endPair();
      } else if ((pair.divisible() && pair.rightBytes() > memory.room()) || !fits(pair)) {
        divide(pair);
        endPair();
      } else {
        reader = pair.left().reader();
        return true;
      }
    }
    return false;
  }

  /// Makes a table of the right rows; false if they are too many and can be divided.
  private boolean fits(Pair pair) {
    JoinPieces loaded = new JoinPieces(breaker, pair.right(), rightKinds.length, memory);
    pieces = loaded;
    loaded.rewind();
    return loaded.isOnly() || !pair.divisible();
  }

  private void divide(Pair pair) {
    closePieces();
    int level = pair.level() + 1;
    JoinTable hasher = breaker.newTable(memory);
    Spill right = new Spill(memory, rightKinds, level);
    dividing.add(right);
    forEachBatch(
        pair.right(),
        rows -> {
          for (int row = 0; row < rows.size; row++) {
            right.append(hasher.hash(rows.columns, row), rows.columns, row);
          }
        });
    right.finish();
    Spill left = new Spill(memory, leftKinds, level);
    dividing.add(left);
    SpillFile.Reader rows = pair.left().reader();
    while (fill(rows)) {
      for (int row = 0; row < batch.size; row++) {
        append(left, leftHash(hasher, row), batch, row);
      }
    }
    left.finish();
    dividing.clear();
    for (int p = Spill.PARTITIONS - 1; p >= 0; p--) {
      boolean divided = right.file(p).rows() < pair.rightRows();
      pending.push(
          new Pair(
              List.of(right.file(p)), true, left.file(p), level, divided && level < Spill.DEEPEST));
    }
  }

  private long leftHash(JoinTable hasher, int row) {
    long hash = 0;
    for (int i = 0; i < leftKeys.length; i++) {
      ColumnVector key = batch.columns[leftKeys[i]];
      if (key.isNull(row)) {
        return 0;
      }
      hash = JoinTable.combine(hash, Ordering.hash(hasher.keyKind(i), key.words[row]));
    }
    return hash;
  }

  private interface Rows {
    void take(VectorBatch rows);
  }

  private void forEachBatch(List<SpillFile> files, Rows rows) {
    for (SpillFile file : files) {
      try (VectorBatch read = new VectorBatch(file.kinds().length)) {
        SpillFile.Reader from = file.reader();
        while (from.fill(read)) {
          Interrupts.check();
          rows.take(read);
        }
      }
    }
  }

  /// The right rows of the pair, at their first piece.
  JoinPieces pieces() {
    JoinPieces present = pieces;
    if (present == null) {
      throw new IllegalStateException("there is no pair of files");
    }
    return present;
  }

  /// Next left rows of the pair; null at its end.
  @Nullable VectorBatch nextLeft() {
    SpillFile.Reader rows = reader;
    return rows != null && fill(rows) ? batch : null;
  }

  private boolean fill(SpillFile.Reader rows) {
    Interrupts.check();
    batch.reset();
    int columns = leftRow.length - 1;
    while (batch.size < VectorBatch.CAPACITY && rows.next()) {
      batch.rowIds[batch.size] = rows.word(columns);
      rows.read(batch, batch.size++, columns);
    }
    return batch.size > 0;
  }

  private void endPair() {
    reader = null;
    closePieces();
    if (current != null) {
      current.close();
      current = null;
    }
  }

  private void closePieces() {
    if (pieces != null) {
      pieces.close();
      pieces = null;
    }
  }

  @Override
  public void close() {
    endPair();
    pending.forEach(Pair::close);
    pending.clear();
    dividing.forEach(Spill::close);
    dividing.clear();
    first.close();
    batch.close();
  }
}
