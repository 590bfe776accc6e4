package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Bytes that one statement holds, with a limit, and what else its operators need of it. Thread-safe.
final class MemoryAccount {
  /// Of a node's account that of its statement, which has the limit; null: this is the statement's.
  private final @Nullable MemoryAccount statement;

  private final @Nullable MemoryPeak peak;

  private final AtomicLong held = new AtomicLong();
  private volatile long limitBytes = Long.MAX_VALUE;
  private volatile @Nullable TempSpace tempSpace;
  private volatile Runnable cancelCheck = () -> {};

  MemoryAccount() {
    this.statement = null;
    this.peak = null;
  }

  /// A node's part of a statement's account.
  MemoryAccount(MemoryAccount statement, MemoryPeak peak) {
    this.statement = statement;
    this.peak = peak;
  }

  private MemoryAccount root() {
    return statement == null ? this : statement;
  }

  /// @param poll throws when the statement was cancelled
  void open(long limit, TempSpace space, Runnable poll) {
    cancelCheck = poll;
    held.set(0);
    limitBytes = limit;
    tempSpace = space;
  }

  /// Whether an operator that has `bytes` should put them on the disk: the statement has less than two thirds of its memory left, and it is worth a file.
  boolean wantsBack(long bytes) {
    MemoryAccount root = root();
    return root.held.get() > root.limitBytes / 3 && bytes > root.limitBytes / 32;
  }

  /// Files that are merged at a time: a quarter of the memory is for their buffers.
  int mostReaders() {
    return Math.clamp(limitBytes() / 4 / bufferBytes(), 4, 256);
  }

  /// Of whoever writes or reads a temporary file.
  int bufferBytes() {
    return Math.clamp(limitBytes() / 128, 4 << 10, 32 << 10);
  }

  long limitBytes() {
    return root().limitBytes;
  }

  /// For loops over what was collected: called every few thousand rows, so that a cancel acts within 10 ms of work.
  void checkCancelled() {
    root().cancelCheck.run();
  }

  /// A temporary file of the statement; whoever asks for it closes it.
  SpillFile newFile(ColumnKind[] kinds) {
    TempSpace space = root().tempSpace;
    if (space == null) {
      throw new IllegalStateException("no statement is running");
    }
    return new SpillFile(space, kinds, bufferBytes());
  }

  /// Counts `bytes` more, or fewer when negative.
  ///
  /// @throws EngineException OUT_OF_MEMORY beyond the limit
  void add(long bytes) {
    if (statement != null && peak != null) {
      peak.add(bytes);
      statement.add(bytes);
      return;
    }
    long now = held.addAndGet(bytes);
    if (bytes > 0 && now > limitBytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for this statement")
          .withDetail("The statement holds " + now + " bytes; the limit is " + limitBytes + ".")
          .withHint("Raise statement_memory, or return or group fewer rows.");
    }
  }
}
