package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// rank, dense_rank, percent_rank and cume_dist with WITHIN GROUP: the place that a row would have among those of the group, which come in
/// order. It has one group at a time.
final class HypotheticalRank extends StateAccumulator<HypotheticalRank.State>
    implements SerialAccumulator {
  /// Which function it is.
  enum Kind {
    RANK,
    DENSE_RANK,
    PERCENT_RANK,
    CUME_DIST;

    static @Nullable Kind of(String name) {
      for (Kind kind : values()) {
        if (kind.name().equals(name.toUpperCase(Locale.ROOT))) {
          return kind;
        }
      }
      return null;
    }

    boolean isFraction() {
      return this == PERCENT_RANK || this == CUME_DIST;
    }
  }

  static final class State {
    long rows;

    /// Rows that come before the one that there might be, and for [Kind#CUME_DIST] those beside it.
    long before;

    /// How many of the rows before have other values than the one before them.
    long distinctBefore;

    /// Values of the last row before, for [Kind#DENSE_RANK].
    long @Nullable [] last;

    boolean @Nullable [] lastNulls;
  }

  private final Kind kind;
  private final int[] oids;
  private final ColumnKind[] kinds;
  private final boolean[] descending;
  private final boolean[] nullsFirst;
  private final VarHeap heap = new VarHeap();

  /// @param oids types of the arguments: the row's values, then those of the group's rows
  HypotheticalRank(Kind kind, int[] oids, boolean[] descending, boolean[] nullsFirst) {
    this.kind = kind;
    this.oids = oids;
    this.descending = descending;
    this.nullsFirst = nullsFirst;
    this.kinds = new ColumnKind[descending.length];
    for (int i = 0; i < kinds.length; i++) {
      kinds[i] = Types.kind(oids[i]);
    }
  }

  @Override
  State newState() {
    return new State();
  }

  @Override
  void add(ColumnVector[] arguments, int row, State state) {
    state.rows++;
    int order = compare(arguments, row);
    if (order < 0 || (order == 0 && kind == Kind.CUME_DIST)) {
      state.before++;
      if (kind == Kind.DENSE_RANK) {
        countDistinct(arguments, row, state);
      }
    }
  }

  /// Where a row of the group is: negative before the row that there might be.
  private int compare(ColumnVector[] arguments, int row) {
    for (int i = 0; i < kinds.length; i++) {
      ColumnVector given = arguments[i];
      ColumnVector value = arguments[kinds.length + i];
      boolean isNull = value.isNull(row);
      int order;
      if (isNull || given.isNull(row)) {
        order = Boolean.compare(isNull, given.isNull(row));
        order = nullsFirst[i] ? -order : order;
      } else {
        order = Ordering.compare(kinds[i], value.words[row], given.words[row]);
        order = descending[i] ? -order : order;
      }
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private void countDistinct(ColumnVector[] arguments, int row, State state) {
    long[] last = state.last;
    boolean[] lastNulls = state.lastNulls;
    boolean differs = last == null || lastNulls == null;
    if (last == null || lastNulls == null) {
      last = new long[kinds.length];
      lastNulls = new boolean[kinds.length];
      state.last = last;
      state.lastNulls = lastNulls;
    }
    for (int i = 0; i < kinds.length && !differs; i++) {
      ColumnVector value = arguments[kinds.length + i];
      differs =
          value.isNull(row) != lastNulls[i]
              || (!lastNulls[i] && !Ordering.equal(kinds[i], value.words[row], last[i]));
    }
    if (!differs) {
      return;
    }
    state.distinctBefore++;
    // There is one group, whose last values are replaced.
    heap.reset();
    for (int i = 0; i < kinds.length; i++) {
      ColumnVector value = arguments[kinds.length + i];
      lastNulls[i] = value.isNull(row);
      last[i] = lastNulls[i] ? 0 : Values.copy(oids[i], value.words[row], heap);
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    throw new IllegalStateException("ordered input is not aggregated in parts");
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    State state = state(group);
    out.words[row] =
        switch (kind) {
          case RANK -> state.before + 1;
          case DENSE_RANK -> state.distinctBefore + 1;
          case PERCENT_RANK ->
              Values.ofFloat8(state.rows == 0 ? 0 : state.before / (double) state.rows);
          case CUME_DIST -> Values.ofFloat8((state.before + 1) / (state.rows + 1.0));
        };
  }

  @Override
  public void clear() {
    forget();
  }

  @Override
  public long memoryBytes() {
    return heap.capacityBytes() + 64L * stateCount();
  }

  @Override
  public void close() {
    heap.close();
  }
}
