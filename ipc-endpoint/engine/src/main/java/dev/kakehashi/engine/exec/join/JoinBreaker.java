package dev.kakehashi.engine.exec.join;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.Spill;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The right side of a join: a table over its rows, or, when the statement's memory gets tight and the join has keys, files by the hash of
/// the keys (Grace hash join; the left side is distributed in the same way by [JoinOperator], and then joined file by file). Without keys
/// the rows go to a file as they come, which is read once for each batch of the left side (block nested loop, see [JoinPieces]).
///
/// Written in its own stage, read by the probing tasks of the next one, in four steps, each of which happens before the next:
///
/// * Each task of the stage collects its own rows, and hashes them when its input has ended.
/// * The task that ends last puts them together, and makes the arrays for buckets and links. [dev.kakehashi.engine.exec.run.PlanRun] orders
///   it after the others by their count, which each decrements.
/// * It starts tasks that fill these arrays, and is one of them; they see what it wrote because it started them. A row is linked by the
///   task in whose range of buckets its hash is: nobody else writes that element of `heads`, nor its own of `nexts`. They read rows and
///   hashes, which nobody writes any more.
/// * The one of them that ends last, ordered after the others by the same count, starts the tasks that probe.
public final class JoinBreaker extends Breaker {
  /// Rows from which on several tasks link the table.
  private static final int SHARED_ROWS = 100_000;

  private final int[] typeOids;
  private final int[] keys;
  private final MemoryAccount memory;
  private final List<Side> sides = new ArrayList<>();
  private final List<Spill> spills = new ArrayList<>();
  private final List<SpillFile> files = new ArrayList<>();
  private JoinTable table;

  /// Tasks that have not probed all of their rows yet.
  private final AtomicInteger probing = new AtomicInteger(1);

  public JoinBreaker(int[] typeOids, int[] keys, MemoryAccount memory) {
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
      int live = batch.liveRows();
      int copied = 0;
      while (copied < live && !isOut()) {
        copied = part.rows().append(batch, copied);
        if (user.wantsBack(part.rows().bytes(), part.tableBytes())) {
          writeOut();
        }
      }
      for (int k = copied; k < live; k++) {
        put(batch.columns, batch.selected < 0 ? k : batch.selection[k]);
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
        file = user.newFile(kinds());
      } else {
        spill = new Spill(user, kinds(), 0);
      }
      MaterializedRows rows = part.rows();
      for (int row = 0; row < rows.size(); row++) {
        put(rows.chunk(row), MaterializedRows.inChunk(row));
      }
      part.close();
    }

    void close() {
      part.close();
      if (spill != null) {
        spill.close();
      }
      if (file != null) {
        file.close();
      }
    }

    @Override
    public void finish() {
      if (!isOut()) {
        part.hashRows();
      }
    }
  }

  @Override
  public void open(RunContext execution) {
    probing.set(1);
  }

  /// Whether all right rows are in memory, where several tasks can note which of them have found a match.
  public boolean isInMemory() {
    return spills.isEmpty() && files.isEmpty();
  }

  /// Before the stage that probes begins: how many tasks it has, if not one.
  public void probedBy(int tasks) {
    probing.set(tasks);
  }

  /// A task has probed all of its rows; true for the last one, which sees all matches that the others have noted.
  boolean isLastProbe() {
    return probing.decrementAndGet() == 0;
  }

  @Override
  public Collector newCollector() {
    Side side = new Side();
    sides.add(side);
    return side;
  }

  @Override
  public void complete(List<Collector> collectors) {
    completeShared(collectors, 1).forEach(Runnable::run);
  }

  @Override
  public List<Runnable> completeShared(List<Collector> collectors, int workers) {
    if (sides.stream().anyMatch(Side::isOut)) {
      sides.forEach(Side::writeOut);
      // Not before: each task has its own, and they run at the same time.
      for (Side side : sides) {
        if (side.spill != null) {
          spills.add(side.spill);
        }
        if (side.file != null) {
          files.add(side.file);
        }
      }
      spills.forEach(Spill::finish);
      files.forEach(SpillFile::finish);
      return List.of();
    }
    Side first = (Side) collectors.getFirst();
    JoinTable whole = first.part;
    table = whole;
    whole.expect(collectors.stream().mapToInt(side -> ((Side) side).part.rows().size()).sum());
    for (Collector collector : collectors.subList(1, collectors.size())) {
      Side other = (Side) collector;
      whole.append(other.part);
      first.user.absorb(other.user);
    }
    whole.prepare();
    int parts = whole.rows().size() < SHARED_ROWS ? 1 : workers;
    return IntStream.range(0, parts)
        .<Runnable>mapToObj(part -> () -> whole.link(part, parts))
        .toList();
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
  public void close() {
    sides.forEach(Side::close);
    sides.clear();
    spills.clear();
    files.clear();
  }
}
