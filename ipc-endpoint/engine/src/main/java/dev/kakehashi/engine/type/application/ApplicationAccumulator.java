package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// States of an aggregate of an application. Rows of a batch are added group by group, in their order within each.
final class ApplicationAccumulator implements Accumulator {
  /// Bytes that a state is taken to hold: nobody can know.
  private static final long STATE_BYTES = 256;

  private static final int PIECE = 1024;

  private final ApplicationAggregate aggregate;
  private final int[] parameterOids;
  private final boolean strict;
  private @Nullable AggregateCode code;
  private @Nullable FunctionTime time;
  private @Nullable Object[] states = {};
  private int made;

  // ---- of one batch ----

  /// By group: first and last of its rows, by their places in the batch; -1: none.
  private int[] first = {};

  private int[] last = {};

  /// By place: the next one of the same group; -1: none.
  private int[] next = {};

  private int[] touched = {};
  private final @Nullable Object[][] arguments;

  /// @param aggregate whose code is taken from the statement that the first user of the states works for
  ApplicationAccumulator(ApplicationAggregate aggregate) {
    this.aggregate = aggregate;
    this.parameterOids = ApplicationScalar.oids(aggregate.signature().parameters());
    this.strict = aggregate.signature().strict();
    this.arguments = new @Nullable Object[parameterOids.length][0];
  }

  /// With code that is at hand.
  ApplicationAccumulator(ApplicationAggregate aggregate, AggregateCode code, FunctionMeter meter) {
    this(aggregate);
    this.code = code;
    this.time = new FunctionTime(meter);
  }

  private AggregateCode code() {
    AggregateCode known = code;
    if (known == null) {
      ApplicationUses uses = ApplicationUses.current();
      uses.requireEnabled(aggregate.definition(), aggregate.signature());
      known = uses.of(aggregate.definition()).aggregate(aggregate.index());
      code = known;
    }
    return known;
  }

  private FunctionTime time() {
    FunctionTime known = time;
    if (known == null) {
      known = new FunctionTime(ApplicationUses.current().meter(aggregate.name()));
      time = known;
    }
    return known;
  }

  @Override
  public void resize(int groupCount) {
    if (groupCount > states.length) {
      int size = Math.max(groupCount, states.length + (states.length >> 1));
      int before = states.length;
      states = Arrays.copyOf(states, size);
      first = Arrays.copyOf(first, size);
      last = Arrays.copyOf(last, size);
      Arrays.fill(first, before, size, -1);
    }
  }

  @Override
  public void add(ColumnVector[] columns, int @Nullable [] rows, int[] groups, int count) {
    if (next.length < count) {
      next = new int[count];
      touched = new int[count];
    }
    int groupCount = 0;
    for (int k = 0; k < count; k++) {
      if (strict && hasNull(columns, rows == null ? k : rows[k])) {
        continue;
      }
      int group = groups[k];
      next[k] = -1;
      if (first[group] < 0) {
        first[group] = k;
        touched[groupCount++] = group;
      } else {
        next[last[group]] = k;
      }
      last[group] = k;
    }
    int[] some = new int[Math.min(count, PIECE)];
    for (int t = 0; t < groupCount; t++) {
      int group = touched[t];
      int taken = 0;
      for (int k = first[group]; k >= 0; k = next[k]) {
        some[taken++] = rows == null ? k : rows[k];
        if (taken == some.length || next[k] < 0) {
          add(columns, some, taken, group);
          taken = 0;
        }
      }
      first[group] = -1;
    }
  }

  @Override
  public void addAll(ColumnVector[] columns, int @Nullable [] rows, int count, int group) {
    int[] some = new int[Math.min(count, PIECE)];
    int taken = 0;
    for (int k = 0; k < count; k++) {
      int row = rows == null ? k : rows[k];
      if (!strict || !hasNull(columns, row)) {
        some[taken++] = row;
      }
      if (taken == some.length) {
        add(columns, some, taken, group);
        taken = 0;
      }
    }
    add(columns, some, taken, group);
  }

  private static boolean hasNull(ColumnVector[] columns, int row) {
    for (ColumnVector column : columns) {
      if (column.isNull(row)) {
        return true;
      }
    }
    return false;
  }

  private void add(ColumnVector[] columns, int[] rows, int count, int group) {
    int done = 0;
    while (done < count) {
      int piece = Math.min(count - done, time().piece());
      for (int i = 0; i < columns.length; i++) {
        if (arguments[i].length < piece) {
          arguments[i] = new @Nullable Object[piece];
        }
        ScalarCalls.read(columns[i], parameterOids[i], rows, done, piece, arguments[i]);
      }
      Object state = states[group];
      time().begin();
      if (state == null) {
        state = code().begin();
        made++;
      }
      states[group] = code().add(state, arguments, piece);
      time().end(piece);
      done += piece;
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    ApplicationAccumulator others = (ApplicationAccumulator) other;
    for (int i = 0; i < count && i < others.states.length; i++) {
      Object theirs = others.states[i];
      if (theirs == null) {
        continue;
      }
      others.states[i] = null;
      others.made--;
      Object mine = states[groups[i]];
      if (mine == null) {
        states[groups[i]] = theirs;
        made++;
      } else {
        time().begin();
        states[groups[i]] = code().merge(mine, theirs);
        time().end(0);
      }
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    time().begin();
    Object state = states[group];
    // The state stays: an aggregate over a window is asked for its result again and again.
    Object value = code().result(state == null ? code().begin() : state);
    time().end(0);
    if (value == null) {
      out.setNull(row);
    } else {
      out.words[row] =
          JavaValues.ofObject(
              aggregate.signature().result().getFirst().typeOid(), value, context.heap);
    }
  }

  @Override
  public long memoryBytes() {
    return made * STATE_BYTES + 16L * states.length;
  }

  @Override
  public void close() {
    states = new @Nullable Object[0];
    first = new int[0];
    last = new int[0];
    made = 0;
    code = null;
    for (@Nullable Object[] objects : arguments) {
      Arrays.fill(objects, null);
    }
  }
}
