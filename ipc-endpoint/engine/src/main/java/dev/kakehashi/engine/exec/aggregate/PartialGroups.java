package dev.kakehashi.engine.exec.aggregate;

import dev.kakehashi.engine.exec.aggregate.AggregateBreaker.Shape;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.rows.GroupTable;
import dev.kakehashi.engine.exec.rows.HeapShare;
import dev.kakehashi.engine.exec.rows.MadeValues;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.Spill;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.KeepingAccumulator;
import dev.kakehashi.engine.type.aggregate.SerialAccumulator;
import dev.kakehashi.engine.type.numeric.NumericWord;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.value.TextWord;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Groups of one task, or of one partition of rows that went to files. Confined to one task at a time.
final class PartialGroups implements Breaker.Collector {
  private final Shape shape;
  private final PlanNode.Aggregate node;
  private final MemoryAccount memory;
  private final AggregateFunction[] functions;
  private final GroupTable table;
  private final Accumulator[] accumulators;
  private final @Nullable DistinctInput[] distinct;
  private final @Nullable OrderedInput[] ordered;
  private final @Nullable CollectedInput[] collected;
  private final ColumnVector[] keys;
  private final ColumnVector[][] arguments;
  private final int[] groups = new int[VectorBatch.CAPACITY];
  private final int[] someGroups = new int[VectorBatch.CAPACITY];
  private final int[] someRows = new int[VectorBatch.CAPACITY];
  private final int[] knownRows = new int[VectorBatch.CAPACITY];
  private final int[] unknownRows = new int[VectorBatch.CAPACITY];
  private final MadeValues made;
  private long accounted;
  private final int level;

  /// Whether the rows that had to wait have been added.
  private boolean complete;

  /// Rows of groups that are not here; null as long as all are.
  private @Nullable Spill spill;

  /// @param level how often its rows have been distributed over files
  PartialGroups(Shape shape, int level) {
    this.shape = shape;
    this.node = shape.node();
    this.memory = shape.memory().user();
    this.made = new MadeValues(memory, HeapShare.OF_PROCESS);
    this.functions = shape.functions();
    this.level = level;
    this.table = new GroupTable(shape.keyOids(), memory);
    this.accumulators = new Accumulator[functions.length];
    this.distinct = new @Nullable DistinctInput[functions.length];
    this.ordered = new @Nullable OrderedInput[functions.length];
    this.collected = new @Nullable CollectedInput[functions.length];
    this.keys = new ColumnVector[shape.keyOids().length];
    this.arguments = new ColumnVector[functions.length][];
    for (int i = 0; i < functions.length; i++) {
      AggregateCall call = node.calls().get(i);
      accumulators[i] = functions[i].newAccumulator();
      arguments[i] = new ColumnVector[call.arguments().length];
      boolean keeps = accumulators[i] instanceof SerialAccumulator;
      // Sorting is how PostgreSQL finds distinct values, which shows in the order of those that are
      // kept.
      if (!call.order().isEmpty() || (call.distinct() && keeps)) {
        boolean counted = Aggregates.isOrderedSet(call.name());
        ordered[i] =
            new OrderedInput(call, node.input().typeOids(), keys.length > 0, counted, memory);
      } else if (call.distinct()) {
        distinct[i] = new DistinctInput(call.argumentOids(), memory);
      } else if (accumulators[i] instanceof KeepingAccumulator keeping) {
        collected[i] = new CollectedInput(functions[i], keeping, memory);
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
    if (keys.length > 0 && level < Spill.DEEPEST) {
      long bytes = accounted + table.bytes();
      // Arrays grow by half; those of one task will also be filled with the groups of another.
      if (memory.wantsBack(bytes, level == 0 ? 2 * bytes : bytes)) {
        spill = new Spill(memory, shape.inputKinds(), level);
      }
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
  void addKnown(VectorBatch batch, @Nullable Spill others) {
    for (int i = 0; i < keys.length; i++) {
      keys[i] = batch.columns[node.keys()[i]];
    }
    table.lookup(keys, batch, groups);
    if (others != null) {
      putInMemory(batch);
    }
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

  /// Makes numerics and texts in memory that came as words: files have none.
  private void putInMemory(VectorBatch batch) {
    int live = batch.liveRows();
    for (int c = 0; c < shape.inputKinds().length; c++) {
      ColumnKind kind = shape.inputKinds()[c];
      if (kind == ColumnKind.NUMERIC || TextWord.isText(kind)) {
        ColumnVector column = batch.columns[c];
        for (int k = 0; k < live; k++) {
          int row = batch.selected < 0 ? k : batch.selection[k];
          if (!column.isNull(row)) {
            long word = column.words[row];
            column.words[row] =
                kind == ColumnKind.NUMERIC
                    ? NumericWord.inMemory(word, batch.heap)
                    : TextWord.inMemory(word, batch.heap);
          }
        }
      }
    }
  }

  /// Hands over its files, whose rows belong to none of its groups: no more rows come.
  @Nullable Spill takeSpill() {
    Spill taken = spill;
    spill = null;
    if (taken != null) {
      taken.finish();
    }
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
    CollectedInput kept = collected[i];
    if (kept != null) {
      kept.add(arguments[i], rows, rowGroups, count, size());
      return;
    }
    DistinctInput values = distinct[i];
    if (values != null) {
      count = values.keepNew(arguments[i], rows, rowGroups, count, someRows, someGroups);
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

  @Override
  public void finish() {}

  void ensureGroups(int count) {
    for (int i = 0; i < accumulators.length; i++) {
      accumulators[i].resize(isSerial(i) ? 1 : count);
    }
  }

  /// Whether an aggregate gets its rows when its group is read.
  private boolean isSerial(int i) {
    return ordered[i] != null && accumulators[i] instanceof SerialAccumulator;
  }

  /// Takes over the groups of another task, which has none then.
  void merge(PartialGroups other) {
    int count = keys.length == 0 ? 1 : other.table.size();
    int[] map = new int[count];
    if (keys.length > 0) {
      table.findAll(other.table, map);
      ensureGroups(table.size());
    } else {
      ensureGroups(1);
      other.ensureGroups(1);
    }
    for (int i = 0; i < accumulators.length; i++) {
      OrderedInput mine = ordered[i];
      OrderedInput theirs = other.ordered[i];
      CollectedInput kept = collected[i];
      CollectedInput others = other.collected[i];
      if (mine != null && theirs != null) {
        mine.add(theirs, map);
      } else if (kept != null && others != null) {
        kept.merge(others, map, count, size());
      } else {
        accumulators[i].merge(other.accumulators[i], map, count);
      }
    }
    account();
    other.close();
    memory.absorb(other.memory);
  }

  /// Makes the groups of empty grouping sets that no row has made.
  void addEmptySets() {
    if (node.emptySets().length == 0) {
      return;
    }
    try (VectorBatch row = new VectorBatch(keys.length)) {
      for (int set : node.emptySets()) {
        row.reset();
        row.size = 1;
        for (int k = 0; k < keys.length - 1; k++) {
          row.columns[k].setNull(0);
        }
        row.columns[keys.length - 1].words[0] = set;
        table.find(row.columns, row, groups);
      }
    }
    ensureGroups(table.size());
  }

  /// Adds the rows that had to wait until all were there. Later calls do nothing.
  void addWaiting() {
    if (complete) {
      return;
    }
    complete = true;
    for (int i = 0; i < functions.length; i++) {
      OrderedInput sorted = ordered[i];
      if (sorted != null && isSerial(i)) {
        sorted.begin();
      } else if (sorted != null) {
        sorted.feed(accumulators[i], this::account);
      }
      CollectedInput kept = collected[i];
      if (kept != null) {
        kept.begin(size());
      }
      DistinctInput values = distinct[i];
      if (values != null) {
        values.feed(accumulators[i], this::account);
      }
    }
    account();
  }

  /// Number of groups.
  int size() {
    return keys.length == 0 ? 1 : table.size();
  }

  /// Writes keys and results of a group into a row of a batch. Groups are read in the order of their numbers, each once.
  void read(int group, VectorBatch batch, int row, FunctionContext context) {
    if (keys.length > 0) {
      table.keys().read(group, batch, row, 0);
    }
    for (int i = 0; i < functions.length; i++) {
      ColumnVector out = batch.columns[keys.length + i];
      CollectedInput kept = collected[i];
      OrderedInput sorted = ordered[i];
      if (kept != null) {
        kept.result(group, out, row, context);
      } else if (sorted != null && accumulators[i] instanceof SerialAccumulator serial) {
        sorted.feed(group, serial, this::account);
        if (serial instanceof KeepingAccumulator keeping) {
          made.make(keeping, 0, out, row, context);
        } else {
          serial.result(0, out, row, context);
        }
        serial.clear();
      } else {
        accumulators[i].result(group, out, row, context);
      }
    }
  }

  private void account() {
    long bytes = 0;
    for (int i = 0; i < accumulators.length; i++) {
      // Values that are kept have an account of their own.
      bytes += collected[i] == null ? accumulators[i].memoryBytes() : 0;
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
    for (CollectedInput kept : collected) {
      if (kept != null) {
        kept.clear();
      }
    }
    for (OrderedInput waiting : ordered) {
      if (waiting != null) {
        waiting.clear();
      }
    }
    for (DistinctInput values : distinct) {
      if (values != null) {
        values.clear();
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
