package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.vector.VectorBatch;
import java.util.BitSet;
import java.util.List;

/// A node that needs all its input before it gives anything: the end of one stage and a source of a later one.
public abstract class Breaker extends NodeState {
  /// Takes the batches of one task.
  public interface Collector {
    void accept(VectorBatch batch);

    /// The task's input has ended; still on the task, so that its share of the work (sorting) runs in parallel.
    void finish();
  }

  /// Columns of its input whose numerics and texts may be as [Operator#giveCompact] says.
  public BitSet compactColumns() {
    return new BitSet();
  }

  /// A collector for one more task of the stage. Called by one thread before the stage's tasks run.
  public abstract Collector newCollector();

  /// Every task has finished; called once, happens after everything they did. Collectors in order of their creation.
  public abstract void complete(List<Collector> collectors);

  /// Like [#complete], but leaves work that can be shared.
  ///
  /// @param workers who may share it
  /// @return to be run, in any order and at the same time, before anybody reads
  public List<Runnable> completeShared(List<Collector> collectors, int workers) {
    complete(collectors);
    return List.of();
  }

  /// Whether several tasks may collect.
  public boolean parallel() {
    return true;
  }
}
