package dev.kakehashi.engine.exec.aggregate;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.Spill;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.StandardAggregates;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.value.TextWord;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// GROUP BY: each task groups its share, then the shares are merged.
///
/// When the statement's memory gets tight, a task makes no more groups (hybrid hash aggregation). Rows of groups that it has are added to
/// them; the others go to files by the hash of their keys. When the groups are read, one file after another is grouped. Rows of merged
/// groups are added to these; the rest makes groups of its own, which may need files again, a level deeper. Values that aggregates keep of
/// their rows go to files of their own, see [DistinctInput], [OrderedInput] and [CollectedInput].
public final class AggregateBreaker extends Breaker {
  /// Properties that the tasks' shares have in common.
  ///
  /// @param functions of the calls
  /// @param anyDistinct whether a call has DISTINCT
  record Shape(
      PlanNode.Aggregate node,
      MemoryAccount memory,
      int[] keyOids,
      AggregateFunction[] functions,
      boolean anyDistinct,
      ColumnKind[] inputKinds) {}

  private final PlanNode.Aggregate node;
  private final MemoryAccount memory;
  private final Shape shape;

  /// Texts of keys, and arguments of sums and counts, that nobody else reads.
  private final BitSet compact;

  private final int[] keyOids;
  private final List<PartialGroups> partials = new ArrayList<>();

  /// Rows that belong to no merged group, of all tasks.
  private final List<Spill> spills = new ArrayList<>();

  private @Nullable PartialGroups result;
  private FunctionContext resultContext = new FunctionContext(new VarHeap(), 0, 0);

  public AggregateBreaker(PlanNode.Aggregate node, MemoryAccount memory) {
    this.node = node;
    this.memory = memory;
    int[] inputOids = node.input().typeOids();
    this.keyOids = new int[node.keys().length];
    for (int i = 0; i < keyOids.length; i++) {
      keyOids[i] = inputOids[node.keys()[i]];
    }
    AggregateFunction[] functions = new AggregateFunction[node.calls().size()];
    boolean distinct = false;
    for (int i = 0; i < functions.length; i++) {
      AggregateCall call = node.calls().get(i);
      AggregateFunction function = function(call);
      if (function == null) {
        throw new EngineException(
            ErrorCode.UNDEFINED_FUNCTION,
            "function " + Functions.describe(call.name(), call.argumentOids()) + " does not exist");
      }
      functions[i] = function;
      distinct |= call.distinct();
    }
    this.shape =
        new Shape(node, memory, keyOids, functions, distinct, MaterializedRows.kinds(inputOids));
    this.compact = findCompact();
  }

  private static @Nullable AggregateFunction function(AggregateCall call) {
    if (call.own() != null) {
      return call.own();
    }
    if (!Aggregates.isHypothetical(call.name())) {
      return Aggregates.ofPlan(call.name(), call.argumentOids());
    }
    int keys = call.order().size();
    boolean[] descending = new boolean[keys];
    boolean[] nullsFirst = new boolean[keys];
    for (int i = 0; i < keys; i++) {
      descending[i] = call.order().get(i).descending();
      nullsFirst[i] = call.order().get(i).nullsFirst();
    }
    return StandardAggregates.hypothetical(
        call.name(), call.argumentOids(), descending, nullsFirst);
  }

  @Override
  public void open(RunContext run) {
    result = null;
    resultContext = run.newFunctionContext();
  }

  @Override
  public BitSet compactColumns() {
    return compact;
  }

  private BitSet findCompact() {
    BitSet found = new BitSet();
    BitSet others = new BitSet();
    for (int key : node.keys()) {
      (TextWord.isText(shape.inputKinds()[key]) ? found : others).set(key);
    }
    for (int i = 0; i < shape.functions().length; i++) {
      AggregateCall call = node.calls().get(i);
      boolean takes = !call.distinct() && call.order().isEmpty() && takesCompact(i);
      for (int argument : call.arguments()) {
        (takes ? found : others).set(argument);
      }
      if (!call.order().isEmpty()) {
        return new BitSet();
      }
    }
    found.andNot(others);
    return found;
  }

  private boolean takesCompact(int call) {
    try (Accumulator accumulator = shape.functions()[call].newAccumulator()) {
      return accumulator.takesCompact();
    }
  }

  /// Values that were seen by one task cannot be told from those seen by another.
  @Override
  public boolean parallel() {
    return !shape.anyDistinct();
  }

  @Override
  public Collector newCollector() {
    PartialGroups partial = new PartialGroups(shape, 0);
    partials.add(partial);
    return partial;
  }

  @Override
  public void complete(List<Collector> collectors) {
    PartialGroups all = (PartialGroups) collectors.get(0);
    takeSpill(all);
    for (int i = 1; i < collectors.size(); i++) {
      PartialGroups other = (PartialGroups) collectors.get(i);
      takeSpill(other);
      all.merge(other);
      partials.remove(other);
    }
    if (keyOids.length == 0) {
      all.ensureGroups(1);
    }
    all.addEmptySets();
    result = all;
  }

  private void takeSpill(PartialGroups groups) {
    Spill spill = groups.takeSpill();
    if (spill != null) {
      spills.add(spill);
    }
  }

  @Override
  public void close() {
    for (PartialGroups partial : partials) {
      partial.close();
    }
    partials.clear();
    spills.forEach(Spill::close);
    spills.clear();
    result = null;
  }

  public Operator source() {
    return new Groups();
  }

  /// Files whose rows are still to be grouped: those of one partition.
  ///
  /// @param first whether some of their rows may belong to merged groups
  private record Pending(List<Spill> spills, int partition, boolean first) {
    int level() {
      return spills.getFirst().level() + 1;
    }

    /// Whether it is the last to use its files.
    boolean last() {
      return partition == Spill.PARTITIONS - 1;
    }
  }

  /// Hands out the merged groups, after those of the files.
  private final class Groups extends Operator {
    private final VectorBatch batch = new VectorBatch(node.typeOids().length);
    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private @Nullable PartialGroups current;
    private int next;

    @Override
    public void open() {
      closePending();
      next = 0;
      current = null;
      push(List.copyOf(spills), true);
      spills.clear();
    }

    private void push(List<Spill> rows, boolean first) {
      for (int p = Spill.PARTITIONS - 1; p >= 0 && !rows.isEmpty(); p--) {
        pending.push(new Pending(rows, p, first));
      }
    }

    @Override
    public @Nullable VectorBatch next() {
      PartialGroups merged = result;
      if (merged == null) {
        throw new IllegalStateException("groups are read before their stage has ended");
      }
      while (true) {
        PartialGroups groups = current;
        if (groups == null) {
          groups = pending.isEmpty() ? merged : group(pending.peek(), merged);
          groups.addWaiting();
          current = groups;
          next = 0;
        }
        VectorBatch found = next(groups);
        if (found != null || groups == merged) {
          return found;
        }
        groups.close();
        partials.remove(groups);
        current = null;
      }
    }

    private PartialGroups group(Pending what, PartialGroups merged) {
      PartialGroups groups = new PartialGroups(shape, what.level());
      partials.add(groups);
      try (VectorBatch rows = new VectorBatch(shape.inputKinds().length)) {
        for (Spill spill : what.spills()) {
          SpillFile.Reader reader = spill.file(what.partition()).reader();
          while (reader.fill(rows)) {
            memory.checkCanceled();
            if (what.first()) {
              merged.addKnown(rows, null);
            }
            if (rows.liveRows() > 0) {
              groups.accept(rows);
            }
          }
        }
      }
      pending.pop();
      if (what.last()) {
        what.spills().forEach(Spill::close);
      }
      Spill deeper = groups.takeSpill();
      if (deeper != null) {
        push(List.of(deeper), false);
      }
      return groups;
    }

    private void closePending() {
      pending.forEach(left -> left.spills().forEach(Spill::close));
      pending.clear();
    }

    private @Nullable VectorBatch next(PartialGroups all) {
      int count = all.size();
      batch.reset();
      FunctionContext context = resultContext;
      context.heap = batch.heap;
      long room = memory.room();
      while (next < count && batch.size < VectorBatch.CAPACITY && batch.heap.usedBytes() < room) {
        int row = batch.size++;
        all.read(next++, batch, row, context);
      }
      return batch.size == 0 ? null : batch;
    }

    @Override
    public void close() {
      closePending();
      batch.close();
    }
  }
}
