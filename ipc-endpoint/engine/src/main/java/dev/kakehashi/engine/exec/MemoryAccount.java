package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/// Bytes that one statement holds, with a limit. Thread-safe.
final class MemoryAccount {
  private final AtomicLong held = new AtomicLong();
  private volatile long limitBytes = Long.MAX_VALUE;

  void open(long limit) {
    held.set(0);
    limitBytes = limit;
  }

  /// Counts `bytes` more, or fewer when negative.
  ///
  /// @throws EngineException OUT_OF_MEMORY beyond the limit
  void add(long bytes) {
    long now = held.addAndGet(bytes);
    if (bytes > 0 && now > limitBytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for this statement")
          .withDetail("The statement holds " + now + " bytes; the limit is " + limitBytes + ".")
          .withHint("Raise engine.statement_memory, or return or group fewer rows.");
    }
  }
}
