package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/// Bytes of the JVM's heap that values take which aggregates make, of all statements of the process together: each has a limit of its own,
/// and many of them could fill the heap, on which everything else in the process depends. Thread-safe.
public final class HeapShare {
  /// Half of the heap: what else lies there (plans, catalogue, sessions) takes little of it.
  public static final HeapShare OF_PROCESS = new HeapShare(Runtime.getRuntime().maxMemory() / 2);

  private final long limitBytes;
  private final AtomicLong held = new AtomicLong();

  HeapShare(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /// Counts `bytes` more, or fewer when negative.
  ///
  /// @throws EngineException OUT_OF_MEMORY beyond the limit; nothing is counted then
  void add(long bytes) {
    long now = held.addAndGet(bytes);
    if (bytes > 0 && now > limitBytes) {
      held.addAndGet(-bytes);
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for values of aggregates")
          .withDetail(
              "All statements together hold "
                  + (now - bytes)
                  + " bytes of them, this one needs "
                  + bytes
                  + " more; the limit is "
                  + limitBytes
                  + ".")
          .withHint("Try again later, or give the endpoint's JVM more memory.");
    }
  }

  long heldBytes() {
    return held.get();
  }
}
