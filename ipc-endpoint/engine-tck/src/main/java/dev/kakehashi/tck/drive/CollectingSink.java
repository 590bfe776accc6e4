package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A reader of results with a bounded number of buffers, which checks how the engine uses them.
///
/// Thread-safe. Errors of the engine are kept ([#assertUsedWell()]), because an exception in a callback may get lost.
public final class CollectingSink implements ResultSink {
  /// Treatment of a batch.
  public enum Reading {
    /// Its rows are kept, its buffer is free at once.
    KEEP,
    /// Its rows are counted, its buffer is free at once.
    COUNT,
    /// Its rows are counted, its buffer is kept until [CollectingSink#release()].
    HOLD
  }

  /// Length of an ordinary buffer.
  public static final int BUFFER_BYTES = 64 << 10;

  /// Longest batch.
  public static final int MAX_BATCH_BYTES = 16 << 20;

  private final List<Statement.Column> columns;
  private final int[] oids;
  private final int buffers;
  private final List<String> rows = new ArrayList<>(); // this and what follows: guarded by this
  private final List<String> violations = new ArrayList<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private Reading reading;
  private long count;
  private int lent; // acquired, neither staged nor discarded
  private int held; // staged and not released
  private boolean gone;
  private boolean ended;

  /// @param buffers most that are lent or held at a time, 1 or more
  public CollectingSink(List<Statement.Column> columns, Reading reading, int buffers) {
    this.columns = columns;
    this.oids = columns.stream().mapToInt(Statement.Column::typeOid).toArray();
    this.reading = reading;
    this.buffers = buffers;
  }

  @Override
  public synchronized @Nullable Buffer acquire(int minBytes) {
    check(!ended, "a buffer is acquired after the end");
    if (gone) {
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the reader is gone");
    }
    if (minBytes > MAX_BATCH_BYTES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a batch of " + minBytes + " bytes is too long");
    }
    if (lent + held >= buffers) {
      return null;
    }
    lent++;
    // Memory of earlier use is anything but zero.
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(BUFFER_BYTES, minBytes), 8);
    memory.fill((byte) 0xA5);
    return new Lent(memory);
  }

  private final class Lent implements Buffer {
    private final MemorySegment memory;
    private boolean used;

    Lent(MemorySegment memory) {
      this.memory = memory;
    }

    @Override
    public MemorySegment memory() {
      return memory;
    }

    @Override
    public void stage(int batchBytes, int rowCount) {
      use(
          "staged",
          () -> {
            read(memory, batchBytes, rowCount);
            if (reading == Reading.HOLD) {
              held++;
            }
          });
    }

    @Override
    public void discard() {
      use("discarded", () -> {});
    }

    private void use(String how, Runnable work) {
      List<Runnable> wake;
      synchronized (CollectingSink.this) {
        check(!used, "a buffer is " + how + " after its use");
        check(!ended, "a buffer is " + how + " after the end");
        used = true;
        lent--;
        work.run();
        wake = writable();
      }
      wake.forEach(Runnable::run);
    }
  }

  private void read(MemorySegment memory, int batchBytes, int rowCount) {
    if (batchBytes > memory.byteSize() || rowCount < 1) {
      check(false, rowCount + " rows in " + batchBytes + " bytes of " + memory.byteSize());
      return;
    }
    try {
      RowBatchReader batch = new RowBatchReader().wrap(memory.asSlice(0, batchBytes));
      check(batch.rowCount() == rowCount, "a batch has other rows than its stage says");
      check(batch.batchBytes() == batchBytes, "a batch is longer than its header says");
      batch.checkValues(oids);
      if (reading == Reading.KEEP) {
        for (int row = 0; row < rowCount; row++) {
          rows.add(RowValues.text(columns, batch, row));
        }
      }
    } catch (RuntimeException malformed) {
      check(false, "a batch is malformed: " + malformed);
    }
    count += rowCount;
  }

  private void check(boolean holds, String violation) {
    if (!holds) {
      violations.add(violation);
    }
  }

  /// Waiters to wake, if there is room now.
  private List<Runnable> writable() {
    if (!gone && lent + held >= buffers) {
      return List.of();
    }
    List<Runnable> wake = List.copyOf(waiting);
    waiting.clear();
    return wake;
  }

  @Override
  public void whenWritable(Runnable wake) {
    synchronized (this) {
      if (!gone && lent + held >= buffers) {
        waiting.add(wake);
        return;
      }
    }
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return MAX_BATCH_BYTES;
  }

  /// Frees all held buffers.
  public void release() {
    free(reading);
  }

  /// Frees all held buffers, and those to come at once.
  public void readOn() {
    free(Reading.COUNT);
  }

  private void free(Reading from) {
    List<Runnable> wake;
    synchronized (this) {
      held = 0;
      reading = from;
      wake = writable();
    }
    wake.forEach(Runnable::run);
  }

  /// The reader is gone: who asks for a buffer gets QUERY_CANCELED.
  public void leave() {
    List<Runnable> wake;
    synchronized (this) {
      gone = true;
      wake = writable();
    }
    wake.forEach(Runnable::run);
  }

  /// The statement has ended.
  synchronized void end() {
    check(lent == 0, lent + " buffers are neither staged nor discarded");
    ended = true;
  }

  /// Whether somebody waits for a buffer.
  public synchronized boolean hasWaiters() {
    return !waiting.isEmpty();
  }

  /// Rows staged so far.
  public synchronized long count() {
    return count;
  }

  /// Rows kept so far, see [RowValues#text].
  public synchronized List<String> rows() {
    return List.copyOf(rows);
  }

  /// @throws AssertionError the engine has not used the buffers as [ResultSink] says
  public synchronized void assertUsedWell() {
    if (!violations.isEmpty()) {
      throw new AssertionError("of the result of a statement: " + violations);
    }
  }
}
