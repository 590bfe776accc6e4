package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.Aggregates;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Functions;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// GROUP BY: each task groups its share, then the shares are merged.
///
/// When the statement's memory gets tight a task makes no more groups: rows of groups that it has are added to them, the others go to files by the hash of their keys
/// (hybrid hash aggregation). When the groups are read, one file after another is grouped: rows of merged groups are added to these, the rest makes groups
/// of its own, which may need files again, a level deeper. Aggregates over DISTINCT or ordered values keep their rows in memory.
final class AggregateBreaker extends Breaker {
  private final PlanNode.Aggregate node;
  private final MemoryAccount memory;
  private final int[] keyOids;
  private final AggregateFunction[] functions;
  private final boolean anyDistinct;
  private final boolean spillable;
  private final ColumnKind[] inputKinds;
  private final List<Partial> partials = new ArrayList<>();
  private @Nullable Partial result;
  private FunctionContext resultContext = new FunctionContext(new VarHeap(), 0, 0);

  AggregateBreaker(PlanNode.Aggregate node, MemoryAccount memory) {
    this.node = node;
    this.memory = memory;
    int[] inputOids = node.input().typeOids();
    this.keyOids = new int[node.keys().length];
    for (int i = 0; i < keyOids.length; i++) {
      keyOids[i] = inputOids[node.keys()[i]];
    }
    this.functions = new AggregateFunction[node.calls().size()];
    boolean distinct = false;
    boolean ordered = false;
    for (int i = 0; i < functions.length; i++) {
      AggregateCall call = node.calls().get(i);
      AggregateFunction function = Aggregates.resolve(call.name(), call.argumentOids());
      if (function == null) {
        throw new EngineException(
            ErrorCode.UNDEFINED_FUNCTION,
            "function " + Functions.describe(call.name(), call.argumentOids()) + " does not exist");
      }
      functions[i] = function;
      distinct |= call.distinct();
      ordered |= !call.order().isEmpty();
    }
    this.anyDistinct = distinct;
    this.spillable = keyOids.length > 0 && !distinct && !ordered;
    this.inputKinds = MaterializedRows.kinds(inputOids);
  }

  @Override
  void open(Execution execution) {
    result = null;
    resultContext = execution.newFunctionContext();
  }

  /// Values that were seen by one task cannot be told from those seen by another.
  @Override
  boolean parallel() {
    return !anyDistinct;
  }

  @Override
  Collector newCollector() {
    Partial partial = new Partial();
    partials.add(partial);
    return partial;
  }

  @Override
  void complete(List<Collector> collectors) {
    Partial all = (Partial) collectors.get(0);
    all.finishSpill();
    for (int i = 1; i < collectors.size(); i++) {
      Partial other = (Partial) collectors.get(i);
      other.finishSpill();
      all.merge(other);
    }
    if (keyOids.length == 0) {
      all.ensureGroups(1);
    }
    all.addEmptySets();
    all.addOrdered();
    result = all;
  }

  @Override
  void close() {
    for (Partial partial : partials) {
      partial.close();
    }
    partials.clear();
    result = null;
  }

  Operator source() {
    return new Groups();
  }

  /// Groups of one task.
  private final class Partial implements Collector {
    private final GroupTable table = new GroupTable(keyOids, memory);
    private final Accumulator[] accumulators = new Accumulator[functions.length];
    private final @Nullable GroupTable[] seen = new @Nullable GroupTable[functions.length];
    private final ColumnVector[] keys = new ColumnVector[keyOids.length];
    private final ColumnVector[][] arguments = new ColumnVector[functions.length][];
    private final int[] groups = new int[VectorBatch.CAPACITY];
    private final int[] someGroups = new int[VectorBatch.CAPACITY];
    private final int[] someRows = new int[VectorBatch.CAPACITY];
    private final int[] knownRows = new int[VectorBatch.CAPACITY];
    private final int[] unknownRows = new int[VectorBatch.CAPACITY];
    private final ColumnVector distinctGroup =
        new ColumnVector(anyDistinct ? VectorBatch.CAPACITY : 0);
    private final VectorBatch distinctRow = new VectorBatch(0);
    private final int[] distinctNumber = new int[1];
    private final @Nullable OrderedInput[] ordered = new @Nullable OrderedInput[functions.length];
    private long accounted;
    private final int level;

    /// Rows of groups that are not here; null as long as all are.
    private @Nullable Spill spill;

    Partial() {
      this(0);
    }

    /// @param level how often its rows have been distributed over files
    Partial(int level) {
      this.level = level;
      for (int i = 0; i < functions.length; i++) {
        AggregateCall call = node.calls().get(i);
        accumulators[i] = functions[i].newAccumulator();
        arguments[i] = new ColumnVector[call.arguments().length];
        if (!call.order().isEmpty()) {
          ordered[i] = new OrderedInput(call, node.input().typeOids(), memory);
        } else if (call.distinct()) {
          int[] oids = Arrays.copyOf(call.argumentOids(), call.argumentOids().length + 1);
          oids[oids.length - 1] = TypeOid.INT4;
          seen[i] = new GroupTable(oids, memory);
        }
      }
    }

    @Override
    public void accept(VectorBatch batch) {
      int live = batch.liveRows();
      if (keys.length == 0) {
        Arrays.fill(groups, 0, live, 0);
        ensureGroups(1);
      } else {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = batch.columns[node.keys()[i]];
        }
        Spill others = spill;
        if (others != null) {
          addKnown(batch, others);
          return;
        }
        table.find(keys, batch, groups);
        ensureGroups(table.size());
      }
      addAll(batch, live);
      if (spillable
          && level < Spill.DEEPEST
          && memory.wantsBack(accounted + table.keys().bytes())) {
        spill = new Spill(memory, inputKinds, level);
      }
    }

    private void addAll(VectorBatch batch, int live) {
      for (int i = 0; i < functions.length; i++) {
        add(i, batch, live);
      }
      account();
    }

    /// Adds the rows whose groups are here.
    ///
    /// @param others gets the rest; null: they stay selected in the batch
    private void addKnown(VectorBatch batch, @Nullable Spill others) {
      for (int i = 0; i < keys.length; i++) {
        keys[i] = batch.columns[node.keys()[i]];
      }
      table.lookup(keys, batch, groups);
      int live = batch.liveRows();
      boolean dense = batch.selected < 0;
      int known = 0;
      int unknown = 0;
      for (int k = 0; k < live; k++) {
        int row = dense ? k : batch.selection[k];
        if (groups[k] >= 0) {
          groups[known] = groups[k];
          knownRows[known++] = row;
        } else if (others != null) {
          others.append(table.hash(k), batch.columns, row);
        } else {
          unknownRows[unknown++] = row;
        }
      }
      if (known > 0) {
        System.arraycopy(knownRows, 0, batch.selection, 0, known);
        batch.selected = known;
        addAll(batch, known);
      }
      System.arraycopy(unknownRows, 0, batch.selection, 0, unknown);
      batch.selected = unknown;
    }

    /// No more rows come.
    void finishSpill() {
      if (spill != null) {
        spill.finish();
      }
    }

    /// Hands over its files, whose rows belong to none of its groups.
    @Nullable Spill takeSpill() {
      Spill taken = spill;
      spill = null;
      return taken;
    }

    private void add(int i, VectorBatch batch, int live) {
      AggregateCall call = node.calls().get(i);
      for (int a = 0; a < arguments[i].length; a++) {
        arguments[i][a] = batch.columns[call.arguments()[a]];
      }
      int @Nullable [] rows = batch.selected < 0 ? null : batch.selection;
      int[] rowGroups = groups;
      int count = live;
      if (call.filter() >= 0) {
        count = keepFiltered(batch.columns[call.filter()], rows, count);
        rows = someRows;
        rowGroups = someGroups;
      }
      OrderedInput later = ordered[i];
      if (later != null) {
        later.add(batch, rows, rowGroups, count);
        return;
      }
      GroupTable distinct = seen[i];
      if (distinct != null) {
        count = keepDistinct(distinct, arguments[i], rows, rowGroups, count);
        rows = someRows;
        rowGroups = someGroups;
      }
      if (keys.length == 0) {
        accumulators[i].addAll(arguments[i], rows, count, 0);
      } else {
        accumulators[i].add(arguments[i], rows, rowGroups, count);
      }
    }

    private int keepFiltered(ColumnVector filter, int @Nullable [] rows, int count) {
      int kept = 0;
      for (int k = 0; k < count; k++) {
        int row = rows == null ? k : rows[k];
        if (!filter.isNull(row) && filter.words[row] != 0) {
          someGroups[kept] = groups[k];
          someRows[kept++] = row;
        }
      }
      return kept;
    }

    /// Keeps the rows whose arguments are not null and new in their group.
    private int keepDistinct(
        GroupTable distinct, ColumnVector[] values, int @Nullable [] rows, int[] of, int count) {
      ColumnVector[] key = Arrays.copyOf(values, values.length + 1);
      ColumnVector group = distinctGroup;
      key[values.length] = group;
      VectorBatch one = distinctRow;
      int[] number = distinctNumber;
      int kept = 0;
      for (int k = 0; k < count; k++) {
        int row = rows == null ? k : rows[k];
        group.words[row] = of[k];
        one.size = row + 1;
        one.selection[0] = row;
        one.selected = 1;
        int before = distinct.size();
        distinct.find(key, one, number);
        if (distinct.size() > before) {
          someGroups[kept] = of[k];
          someRows[kept++] = row;
        }
      }
      return kept;
    }

    @Override
    public void finish() {}

    void ensureGroups(int count) {
      for (Accumulator accumulator : accumulators) {
        accumulator.resize(count);
      }
    }

    void merge(Partial other) {
      int count = keyOids.length == 0 ? 1 : other.table.size();
      int[] map = new int[count];
      if (keyOids.length > 0) {
        try (VectorBatch scratch = new VectorBatch(keyOids.length)) {
          for (int group = 0; group < count; group++) {
            if (group % VectorBatch.CAPACITY == 0) {
              memory.checkCancelled();
            }
            map[group] = table.find(other.table, group, scratch);
          }
        }
        ensureGroups(table.size());
      } else {
        ensureGroups(1);
        other.ensureGroups(1);
      }
      for (int i = 0; i < accumulators.length; i++) {
        OrderedInput mine = ordered[i];
        OrderedInput theirs = other.ordered[i];
        if (mine != null && theirs != null) {
          mine.add(theirs, map);
        } else {
          accumulators[i].merge(other.accumulators[i], map, count);
        }
      }
      account();
    }

    /// Makes the groups of empty grouping sets that no row has made.
    void addEmptySets() {
      if (node.emptySets().length == 0) {
        return;
      }
      try (VectorBatch row = new VectorBatch(keyOids.length)) {
        for (int set : node.emptySets()) {
          row.reset();
          row.size = 1;
          for (int k = 0; k < keyOids.length - 1; k++) {
            row.columns[k].setNull(0);
          }
          row.columns[keyOids.length - 1].words[0] = set;
          table.find(row.columns, row, groups);
        }
      }
      ensureGroups(table.size());
    }

    /// Adds the rows that had to wait for their order.
    void addOrdered() {
      for (int i = 0; i < functions.length; i++) {
        OrderedInput waiting = ordered[i];
        if (waiting != null) {
          waiting.feed(accumulators[i]);
        }
      }
      account();
    }

    private void account() {
      long bytes = 0;
      for (Accumulator accumulator : accumulators) {
        bytes += accumulator.memoryBytes();
      }
      if (bytes != accounted) {
        long more = bytes - accounted;
        accounted = bytes;
        memory.add(more);
      }
    }

    void close() {
      table.clear();
      for (Accumulator accumulator : accumulators) {
        accumulator.close();
      }
      for (OrderedInput waiting : ordered) {
        if (waiting != null) {
          waiting.clear();
        }
      }
      for (GroupTable distinct : seen) {
        if (distinct != null) {
          distinct.clear();
        }
      }
      memory.add(-accounted);
      accounted = 0;
      if (spill != null) {
        spill.close();
        spill = null;
      }
    }
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
    private @Nullable Partial current;
    private int next;

    @Override
    void open() {
      closePending();
      next = 0;
      current = null;
      List<Spill> spills = new ArrayList<>();
      for (Partial partial : partials) {
        Spill spill = partial.takeSpill();
        if (spill != null) {
          spills.add(spill);
        }
      }
      push(spills, true);
    }

    private void push(List<Spill> spills, boolean first) {
      for (int p = Spill.PARTITIONS - 1; p >= 0 && !spills.isEmpty(); p--) {
        pending.push(new Pending(spills, p, first));
      }
    }

    @Override
    @Nullable VectorBatch next() {
      Partial merged = result;
      if (merged == null) {
        throw new IllegalStateException("groups are read before their stage has ended");
      }
      while (true) {
        Partial groups = current;
        if (groups == null) {
          groups = pending.isEmpty() ? merged : group(pending.pop(), merged);
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

    private Partial group(Pending what, Partial merged) {
      Partial groups = new Partial(what.level());
      partials.add(groups);
      try (VectorBatch rows = new VectorBatch(inputKinds.length)) {
        for (Spill spill : what.spills()) {
          SpillFile.Reader reader = spill.file(what.partition()).reader();
          while (reader.fill(rows)) {
            memory.checkCancelled();
            if (what.first()) {
              merged.addKnown(rows, null);
            }
            if (rows.liveRows() > 0) {
              groups.accept(rows);
            }
          }
        }
      }
      if (what.last()) {
        what.spills().forEach(Spill::close);
      }
      groups.finishSpill();
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

    private @Nullable VectorBatch next(Partial all) {
      int count = keyOids.length == 0 ? 1 : all.table.size();
      batch.reset();
      FunctionContext context = resultContext;
      context.heap = batch.heap;
      while (next < count && batch.size < VectorBatch.CAPACITY) {
        int row = batch.size++;
        if (keyOids.length > 0) {
          all.table.keys().read(next, batch, row, 0);
        }
        for (int i = 0; i < functions.length; i++) {
          all.accumulators[i].result(next, batch.columns[keyOids.length + i], row, context);
        }
        next++;
      }
      return batch.size == 0 ? null : batch;
    }

    @Override
    void close() {
      closePending();
      batch.close();
    }
  }
}
