package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.application.FunctionMeter;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Measurements of a plan's nodes in one execution, for EXPLAIN ANALYZE. Ordinary executions have none, and nothing in them is measured.
///
/// The map is filled before the execution and only read afterwards; the counts are added to by any task.
public final class PlanProfile {
  private final IdentityHashMap<PlanNode, Node> nodes = new IdentityHashMap<>();

  private Map<String, FunctionMeter> functions = Map.of();

  public PlanProfile(PhysicalPlan plan) {
    plan.parts().forEach(part -> add(part.change().source()));
    add(plan.source());
  }

  /// Notes calls of functions of applications, by their names; after the execution.
  public void functions(Map<String, FunctionMeter> meters) {
    functions = new TreeMap<>(meters);
  }

  /// Calls of functions of applications, by their names.
  public Map<String, FunctionMeter> functions() {
    return functions;
  }

  private void add(PlanNode node) {
    nodes.put(node, new Node());
    node.inputs().forEach(this::add);
  }

  /// Measurements of one node. Times are added up over the tasks that ran at the same time.
  public static final class Node {
    public final LongAdder rows = new LongAdder();
    public final LongAdder loops = new LongAdder();
    public final LongAdder nanos = new LongAdder();
    final MemoryPeak memory = new MemoryPeak();
    final LongAdder spilled = new LongAdder();
    final LongAdder files = new LongAdder();

    /// Rows that came out of it.
    public long rows() {
      return rows.sum();
    }

    /// How often it was begun: once by each task, and once for each row of an outer side.
    public long loops() {
      return loops.sum();
    }

    /// Most bytes it held at a time; 0 if it keeps no rows.
    public long memoryBytes() {
      return memory.bytes();
    }

    /// Bytes that it wrote to temporary files, those of rows that were written again with each writing.
    public long spilledBytes() {
      return spilled.sum();
    }

    /// Temporary files that it wrote to.
    public long spillFiles() {
      return files.sum();
    }
  }

  /// Null for a node that is not of the plan.
  public @Nullable Node find(PlanNode node) {
    return nodes.get(node);
  }

  /// A node of the plan.
  public Node of(PlanNode node) {
    Node found = nodes.get(node);
    if (found == null) {
      throw new IllegalArgumentException("node is not of the plan: " + node);
    }
    return found;
  }

  /// Time of a node and everything below it.
  public long nanos(PlanNode node) {
    long sum = of(node).nanos.sum();
    for (PlanNode input : node.inputs()) {
      // Rows that a node draws itself are in its own time; rows that were collected for it before
      // are not.
      if (isCollected(node, input)) {
        sum += nanos(input);
      }
    }
    return sum;
  }

  @SuppressWarnings("ReferenceEquality") // which of the inputs it is
  private static boolean isCollected(PlanNode node, PlanNode input) {
    return switch (node) {
      case PlanNode.Aggregate aggregate -> true;
      case PlanNode.Sort sort -> true;
      case PlanNode.Window window -> true;
      case PlanNode.With with -> input == with.common();
      case PlanNode.HashJoin join -> input == join.right();
      case PlanNode.NestedLoopJoin join -> input == join.right();
      default -> false;
    };
  }
}
