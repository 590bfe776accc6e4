package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The right side of a join: a table over its rows, or, when the statement's memory gets tight and the join has keys, files by the hash of the keys
/// (Grace hash join; the left side is distributed in the same way by [JoinOperator], and then joined file by file).
///
/// Written in its own stage, read by the probing tasks of the next one.
final class JoinBreaker extends Breaker {
  private final int[] typeOids;
  private final int[] keys;
  private final MemoryAccount memory;
  private final List<Side> sides = new ArrayList<>();
  private final List<Spill> spills = new ArrayList<>();
  private JoinTable table;

  JoinBreaker(int[] typeOids, int[] keys, MemoryAccount memory) {
    this.typeOids = typeOids;
    this.keys = keys;
    this.memory = memory;
    this.table = newTable();
  }

  /// A table for a part of the rows.
  JoinTable newTable() {
    return new JoinTable(typeOids, keys, memory);
  }

  MemoryAccount memory() {
    return memory;
  }

  private final class Side implements Collector {
    private final JoinTable part = newTable();
    private @Nullable Spill spill;

    @Override
    public void accept(VectorBatch batch) {
      Spill files = spill;
      if (files != null) {
        int live = batch.liveRows();
        for (int k = 0; k < live; k++) {
          int row = batch.selected < 0 ? k : batch.selection[k];
          files.append(part.hash(batch.columns, row), batch.columns, row);
        }
        return;
      }
      part.rows().append(batch);
      if (keys.length > 0 && memory.wantsBack(part.rows().bytes())) {
        writeOut();
      }
    }

    /// Moves its rows to files.
    void writeOut() {
      Spill files = spill;
      if (files == null) {
        files = new Spill(memory, MaterializedRows.kinds(typeOids), 0);
        spill = files;
        spills.add(files);
      }
      MaterializedRows rows = part.rows();
      for (int row = 0; row < rows.size(); row++) {
        ColumnVector[] chunk = rows.chunk(row);
        int at = MaterializedRows.inChunk(row);
        files.append(part.hash(chunk, at), chunk, at);
      }
      rows.clear();
    }

    @Override
    public void finish() {}
  }

  @Override
  void open(Execution execution) {}

  @Override
  Collector newCollector() {
    Side side = new Side();
    sides.add(side);
    return side;
  }

  @Override
  void complete(List<Collector> collectors) {
    if (sides.stream().anyMatch(side -> side.spill != null)) {
      sides.forEach(Side::writeOut);
      spills.forEach(Spill::finish);
      return;
    }
    table = ((Side) collectors.get(0)).part;
    for (int i = 1; i < collectors.size(); i++) {
      MaterializedRows part = ((Side) collectors.get(i)).part.rows();
      for (int row = 0; row < part.size(); row++) {
        if (row % VectorBatch.CAPACITY == 0) {
          memory.checkCancelled();
        }
        table.rows().append(part, row);
      }
      part.clear();
    }
    table.build();
  }

  /// The rows, if they are in memory.
  JoinTable table() {
    return table;
  }

  /// The files with the rows; empty if they are in memory.
  List<Spill> spills() {
    return spills;
  }

  @Override
  void close() {
    for (Side side : sides) {
      side.part.close();
    }
    sides.clear();
    spills.forEach(Spill::close);
    spills.clear();
  }
}
