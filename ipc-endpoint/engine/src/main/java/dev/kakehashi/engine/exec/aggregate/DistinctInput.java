package dev.kakehashi.engine.exec.aggregate;

import dev.kakehashi.engine.exec.rows.GroupTable;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.Spill;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Which values of one DISTINCT aggregate are new in their group.
///
/// When the statement's memory gets tight no more values are remembered: those that are neither known go to files by their hash, and are
/// looked at file by file when all rows have come, a level deeper if a file has too many of them. Confined to one task at a time.
final class DistinctInput {
  private final int[] oids;
  private final ColumnKind[] kinds;
  private final MemoryAccount memory;
  private final int level;
  private final GroupTable seen;
  private @Nullable Spill spill;

  /// Arguments and number of the group.
  private final VectorBatch key;

  private final ColumnVector keyGroup = new ColumnVector(VectorBatch.CAPACITY);
  private final int[] numbers = new int[VectorBatch.CAPACITY];

  DistinctInput(int[] argumentOids, MemoryAccount memory) {
    this(withGroup(argumentOids), memory, 0);
  }

  private DistinctInput(int[] oids, MemoryAccount memory, int level) {
    this.oids = oids;
    this.kinds = MaterializedRows.kinds(oids);
    this.memory = memory.user();
    this.level = level;
    this.seen = new GroupTable(oids, this.memory);
    this.key = new VectorBatch(0, oids.length);
  }

  private static int[] withGroup(int[] argumentOids) {
    int[] oids = Arrays.copyOf(argumentOids, argumentOids.length + 1);
    oids[argumentOids.length] = TypeOid.INT4;
    return oids;
  }

  /// Keeps the rows whose values are new in their group; others may still turn out to be, see [#feed].
  ///
  /// @param rows positions in the columns; null: `0 .. count-1`
  /// @param groups of the rows
  /// @param newRows gets the rows that are kept, may be `rows`
  /// @param newGroups gets their groups, may be `groups`
  /// @return how many
  int keepNew(
      ColumnVector[] values,
      int @Nullable [] rows,
      int[] groups,
      int count,
      int[] newRows,
      int[] newGroups) {
    int last = 0;
    for (int k = 0; k < count; k++) {
      int row = rows == null ? k : rows[k];
      keyGroup.words[row] = groups[k];
      last = row;
    }
    System.arraycopy(values, 0, key.columns, 0, values.length);
    key.columns[values.length] = keyGroup;
    key.size = last + 1;
    key.selected = -1;
    if (rows != null) {
      key.selection = rows;
      key.selected = count;
    }
    if (count == 0) {
      return 0;
    }
    Spill others = spill;
    if (others != null) {
      seen.lookup(key.columns, key, numbers);
      for (int k = 0; k < count; k++) {
        if (numbers[k] < 0) {
          others.append(seen.hash(k), key.columns, rows == null ? k : rows[k]);
        }
      }
      return 0;
    }
    int next = seen.size();
    seen.find(key.columns, key, numbers);
    int kept = 0;
    for (int k = 0; k < count; k++) {
      // New values get the next numbers in their order.
      if (numbers[k] == next) {
        next++;
        newGroups[kept] = groups[k];
        newRows[kept++] = rows == null ? k : rows[k];
      }
    }
    if (level < Spill.DEEPEST && memory.wantsBack(seen.bytes(), seen.bytes())) {
      spill = new Spill(memory, kinds, level);
    }
    return kept;
  }

  /// Gives the values that went to files to the aggregate: all rows have come.
  ///
  /// @param account called after each batch
  void feed(Accumulator accumulator, Runnable account) {
    Spill files = spill;
    if (files == null) {
      return;
    }
    files.finish();
    // None of the values in the files is among them.
    seen.clear();
    int arguments = oids.length - 1;
    ColumnVector[] values = new ColumnVector[arguments];
    int[] groups = new int[VectorBatch.CAPACITY];
    int[] rows = new int[VectorBatch.CAPACITY];
    for (int p = 0; p < Spill.PARTITIONS; p++) {
      DistinctInput deeper = new DistinctInput(oids, memory, level + 1);
      try (VectorBatch batch = new VectorBatch(oids.length)) {
        SpillFile.Reader reader = files.file(p).reader();
        System.arraycopy(batch.columns, 0, values, 0, arguments);
        while (reader.fill(batch)) {
          memory.checkCanceled();
          for (int row = 0; row < batch.size; row++) {
            groups[row] = (int) batch.columns[arguments].words[row];
          }
          int count = deeper.keepNew(values, null, groups, batch.size, rows, groups);
          accumulator.add(values, rows, groups, count);
          account.run();
        }
        files.file(p).close();
        deeper.feed(accumulator, account);
      } finally {
        deeper.clear();
      }
    }
  }

  /// Forgets all values and frees what they take.
  void clear() {
    seen.clear();
    if (spill != null) {
      spill.close();
      spill = null;
    }
  }
}
