package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// INTERSECT and EXCEPT [ALL]: counts the distinct rows of each side; one breaker per side, the left one is the source.
final class SetOperationBreaker extends Breaker {
  private final PlanNode.SetOperation node;
  private final @Nullable SetOperationBreaker right;
  private final GroupTable rows;
  private int[] counts = new int[VectorBatch.CAPACITY];

  /// @param right the other side; null if this is it
  SetOperationBreaker(
      PlanNode.SetOperation node, @Nullable SetOperationBreaker right, MemoryAccount memory) {
    this.node = node;
    this.right = right;
    this.rows = new GroupTable(node.typeOids(), memory);
  }

  @Override
  void open(Execution execution) {}

  @Override
  boolean parallel() {
    return false;
  }

  @Override
  Collector newCollector() {
    Arrays.fill(counts, 0);
    return new Collector() {
      private final int[] groups = new int[VectorBatch.CAPACITY];

      @Override
      public void accept(VectorBatch batch) {
        rows.find(batch.columns, batch, groups);
        if (rows.size() > counts.length) {
          counts = Arrays.copyOf(counts, Math.max(2 * counts.length, rows.size()));
        }
        for (int k = 0; k < batch.liveRows(); k++) {
          counts[groups[k]]++;
        }
      }

      @Override
      public void finish() {}
    };
  }

  @Override
  void complete(List<Collector> collectors) {}

  @Override
  void close() {
    rows.clear();
  }

  Operator source() {
    return new Survivors();
  }

  private final class Survivors extends Operator {
    private final VectorBatch batch = new VectorBatch(node.typeOids().length);
    private final VectorBatch scratch = new VectorBatch(node.typeOids().length);
    private int next;
    private int repeat;

    @Override
    void open() {
      next = 0;
      repeat = 0;
    }

    @Override
    @Nullable VectorBatch next() {
      batch.reset();
      while (batch.size < VectorBatch.CAPACITY) {
        if (repeat == 0) {
          if (next == rows.size()) {
            break;
          }
          repeat = times(next++);
          continue;
        }
        repeat--;
        rows.keys().read(next - 1, batch, batch.size++, 0);
      }
      return batch.size == 0 ? null : batch;
    }

    /// How often a distinct row of the left side comes out.
    private int times(int group) {
      SetOperationBreaker other = right;
      if (other == null) {
        throw new IllegalStateException("only the left side is a source");
      }
      int match = other.rows.lookup(rows, group, scratch);
      int there = match < 0 ? 0 : other.counts[match];
      if (node.all()) {
        return node.intersect()
            ? Math.min(counts[group], there)
            : Math.max(counts[group] - there, 0);
      }
      return node.intersect() == there > 0 ? 1 : 0;
    }

    @Override
    void close() {
      batch.close();
      scratch.close();
    }
  }
}
