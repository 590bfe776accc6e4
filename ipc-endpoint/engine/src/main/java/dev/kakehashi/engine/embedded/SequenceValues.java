package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The positions of all sequences. Thread-safe.
///
/// A record of the log covers a range of values ahead of those that are given out. In the log's order it is before the commit of each
/// transaction that has one of them. So no value of a durable commit is given out again after a crash. The rest of the range is lost then,
/// as in PostgreSQL.
final class SequenceValues {
  /// Values that one record covers, when the sequence does not say more.
  private static final long VALUES_PER_RECORD = 32;

  /// Guarded by itself.
  private static final class State {
    long last;
    boolean called;

    /// Values that may be taken without a new record.
    long covered;

    /// Record of the log that covers what was given out last.
    long record;

    /// Distance of those values.
    long increment;

    State(long last, boolean called) {
      this.last = last;
      this.called = called;
    }
  }

  private final Store store;
  private final ConcurrentHashMap<Long, State> states = new ConcurrentHashMap<>();

  SequenceValues(Store store) {
    this.store = store;
  }

  private State state(SequenceDefinition sequence) {
    return states.computeIfAbsent(
        sequence.stateId(),
        id -> {
          SequencePosition stored = store.sequencePosition(id);
          return stored == null
              ? new State(sequence.start(), false)
              : new State(stored.last(), stored.called());
        });
  }

  private long next(SequenceDefinition sequence, AtomicLong reliedOn) {
    State state = state(sequence);
    synchronized (state) {
      long value = state.called ? after(sequence, state.last) : state.last;
      if (state.covered == 0 || state.increment != sequence.increment()) {
        cover(sequence, state, value);
      }
      state.covered--;
      state.last = value;
      state.called = true;
      reliedOn.accumulateAndGet(state.record, Math::max);
      return value;
    }
  }

  /// @throws EngineException SEQUENCE_LIMIT_EXCEEDED
  private static long after(SequenceDefinition sequence, long last) {
    boolean up = sequence.increment() > 0;
    long bound = up ? sequence.max() : sequence.min();
    // The distance fits into an unsigned number.
    long left = up ? bound - last : last - bound;
    long step = Math.abs(sequence.increment());
    boolean atEnd = up ? last >= bound : last <= bound;
    if (!atEnd && Long.compareUnsigned(left, step) >= 0) {
      return last + sequence.increment();
    }
    if (sequence.cycles()) {
      return up ? sequence.min() : sequence.max();
    }
    throw new EngineException(
        ErrorCode.SEQUENCE_LIMIT_EXCEEDED,
        "nextval: reached %s value of sequence \"%s\" (%d)"
            .formatted(up ? "maximum" : "minimum", sequence.name(), bound));
  }

  private void cover(SequenceDefinition sequence, State state, long first) {
    long count = 1;
    long last = first;
    long wanted = Math.max(VALUES_PER_RECORD, sequence.cache());
    boolean up = sequence.increment() > 0;
    long bound = up ? sequence.max() : sequence.min();
    while (count < wanted) {
      long left = up ? bound - last : last - bound;
      boolean atEnd = up ? last >= bound : last <= bound;
      if (atEnd || Long.compareUnsigned(left, Math.abs(sequence.increment())) < 0) {
        break;
      }
      last += sequence.increment();
      count++;
    }
    state.record = store.putSequencePosition(sequence.stateId(), new SequencePosition(last, true));
    state.covered = count;
    state.increment = sequence.increment();
  }

  private void set(SequenceDefinition sequence, long value, boolean called, AtomicLong reliedOn) {
    if (value < sequence.min() || value > sequence.max()) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
          "setval: value %d is out of bounds for sequence \"%s\" (%d..%d)"
              .formatted(value, sequence.name(), sequence.min(), sequence.max()));
    }
    State state = state(sequence);
    synchronized (state) {
      state.record =
          store.putSequencePosition(sequence.stateId(), new SequencePosition(value, called));
      state.last = value;
      state.called = called;
      state.covered = 0;
      reliedOn.accumulateAndGet(state.record, Math::max);
    }
  }

  /// Value that was taken or set last; null: none yet.
  @Nullable Long lastValue(SequenceDefinition sequence) {
    State state = state(sequence);
    synchronized (state) {
      return state.called ? state.last : null;
    }
  }

  /// The sequences for one session.
  SequenceAccess session() {
    return new Session();
  }

  private final class Session implements SequenceAccess {
    private final ConcurrentHashMap<Long, Long> taken = new ConcurrentHashMap<>();
    private volatile @Nullable Long latest;

    /// Greatest so far of the records that cover what was taken.
    private final AtomicLong record = new AtomicLong();

    @Override
    public long next(SequenceDefinition sequence) {
      long value = SequenceValues.this.next(sequence, record);
      taken.put(sequence.stateId(), value);
      latest = value;
      return value;
    }

    @Override
    public long current(SequenceDefinition sequence) {
      Long value = taken.get(sequence.stateId());
      if (value == null) {
        throw undefined("currval of sequence \"" + sequence.name() + "\"");
      }
      return value;
    }

    @Override
    public long last() {
      Long value = latest;
      if (value == null) {
        throw undefined("lastval");
      }
      return value;
    }

    @Override
    public long reliedOn() {
      return record.get();
    }

    private EngineException undefined(String what) {
      return new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE, what + " is not yet defined in this session");
    }

    @Override
    public void set(SequenceDefinition sequence, long value, boolean called) {
      SequenceValues.this.set(sequence, value, called, record);
      if (called) {
        taken.put(sequence.stateId(), value);
      }
    }
  }
}
