package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The right side of a join: a table over its rows, or, when the statement's memory gets tight and the join has keys, files by the hash of the keys
/// (Grace hash join; the left side is distributed in the same way by [JoinOperator], and then joined file by file). Without keys the rows go to a file as they come,
/// which is read once for each batch of the left side (block nested loop, see [JoinPieces]).
///
/// Written in its own stage, read by the probing tasks of the next one.
final class JoinBreaker extends Breaker {
  private final int[] typeOids;
  private final int[] keys;
  private final MemoryAccount memory;
  private final List<Side> sides = new ArrayList<>();
  private final List<Spill> spills = new ArrayList<>();
  private final List<SpillFile> files = new ArrayList<>();
  private JoinTable table;

  /// Tasks that have not probed all of their rows yet.
  private final AtomicInteger probing = new AtomicInteger(1);

  JoinBreaker(int[] typeOids, int[] keys, MemoryAccount memory) {
    this.typeOids = typeOids;
    this.keys = keys;
    this.memory = memory;
    this.table = newTable(memory.user());
  }

  /// A table for a part of the rows.
  ///
  /// @param user whose memory it takes
  JoinTable newTable(MemoryAccount user) {
    return new JoinTable(typeOids, keys, user);
  }

  ColumnKind[] kinds() {
    return MaterializedRows.kinds(typeOids);
  }

  MemoryAccount memory() {
    return memory;
  }

  private final class Side implements Collector {
    private final MemoryAccount user = memory.user();
    private final JoinTable part = newTable(user);
    private @Nullable Spill spill;
    private @Nullable SpillFile file;

    @Override
    public void accept(VectorBatch batch) {
      if (isOut()) {
        int live = batch.liveRows();
        for (int k = 0; k < live; k++) {
          put(batch.columns, batch.selected < 0 ? k : batch.selection[k]);
        }
        return;
      }
      part.rows().append(batch);
      if (user.wantsBack(part.rows().bytes(), part.tableBytes())) {
        writeOut();
      }
    }

    boolean isOut() {
      return spill != null || file != null;
    }

    private void put(ColumnVector[] columns, int row) {
      if (spill != null) {
        spill.append(part.hash(columns, row), columns, row);
      } else if (file != null) {
        file.append(columns, row);
      }
    }

    /// Moves its rows to files.
    void writeOut() {
      if (isOut()) {
        return;
      }
      if (keys.length == 0) {
        SpillFile made = user.newFile(kinds());
        file = made;
        files.add(made);
      } else {
        Spill made = new Spill(user, kinds(), 0);
        spill = made;
        spills.add(made);
      }
      MaterializedRows rows = part.rows();
      for (int row = 0; row < rows.size(); row++) {
        put(rows.chunk(row), MaterializedRows.inChunk(row));
      }
      rows.clear();
    }

    @Override
    public void finish() {}
  }

  @Override
  void open(Execution execution) {
    probing.set(1);
  }

  /// Whether all right rows are in memory, where several tasks can note which of them have found a match.
  boolean isInMemory() {
    return spills.isEmpty() && files.isEmpty();
  }

  /// Before the stage that probes begins: how many tasks it has, if not one.
  void probedBy(int tasks) {
    probing.set(tasks);
  }

  /// A task has probed all of its rows; true for the last one, which sees all matches that the others have noted.
  boolean isLastProbe() {
    return probing.decrementAndGet() == 0;
  }

  @Override
  Collector newCollector() {
    Side side = new Side();
    sides.add(side);
    return side;
  }

  @Override
  void complete(List<Collector> collectors) {
    if (sides.stream().anyMatch(Side::isOut)) {
      sides.forEach(Side::writeOut);
      spills.forEach(Spill::finish);
      files.forEach(SpillFile::finish);
      return;
    }
    Side first = (Side) collectors.get(0);
    table = first.part;
    for (int i = 1; i < collectors.size(); i++) {
      Side other = (Side) collectors.get(i);
      table.rows().appendAll(other.part.rows());
      first.user.absorb(other.user);
    }
    table.build();
  }

  /// The rows, if they are in memory.
  JoinTable table() {
    return table;
  }

  /// The files with the rows of a join with keys; empty if they are in memory.
  List<Spill> spills() {
    return spills;
  }

  /// The files with the rows of a join without keys; empty if they are in memory.
  List<SpillFile> files() {
    return files;
  }

  @Override
  void close() {
    for (Side side : sides) {
      side.part.close();
    }
    sides.clear();
    spills.forEach(Spill::close);
    spills.clear();
    files.forEach(SpillFile::close);
    files.clear();
  }
}
