package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Bytes that one statement holds, with a limit. Thread-safe.
final class MemoryAccount {
  /// Of a node's account that of its statement, which has the limit; null: this is the statement's.
  private final @Nullable MemoryAccount statement;

  private final @Nullable MemoryPeak peak;

  private final AtomicLong held = new AtomicLong();
  private volatile long limitBytes = Long.MAX_VALUE;

  MemoryAccount() {
    this.statement = null;
    this.peak = null;
  }

  /// A node's part of a statement's account.
  MemoryAccount(MemoryAccount statement, MemoryPeak peak) {
    this.statement = statement;
    this.peak = peak;
  }

  void open(long limit) {
    held.set(0);
    limitBytes = limit;
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
          .withHint("Raise engine.statement_memory, or return or group fewer rows.");
    }
  }
}
