package dev.kakehashi.engine.api;

import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Where a statement puts its rows: buffers that the reader releases one by one.
///
/// Thread-safe: parallel tasks may acquire and stage concurrently. Order between batches is the order of `stage` calls, so
/// an ordered result is staged by one task at a time.
///
/// Rows that the reader has not taken stay in the engine's store. A statement holds no more rows in memory than fit into the buffers and
/// what its operators need. A statement that finds no buffer gives its thread back. Each buffer is staged or discarded before the statement
/// ends.
public interface ResultSink {
  /// Room for one row batch. Owned by the engine until staged or discarded.
  interface Buffer {
    /// Writable memory outside of the heap (native), 8-byte aligned. Zero-filled is not promised.
    MemorySegment memory();

    /// Hands a complete batch to the reader; the buffer must not be used afterwards.
    ///
    /// @param batchBytes length of the batch
    /// @param rowCount rows in it, at least 1
    void stage(int batchBytes, int rowCount);

    /// Gives the buffer back unused.
    void discard();
  }

  /// A buffer for a batch of at least `minBytes`, or null when the reader has to release one first (see
  /// [#whenWritable(Runnable)]). The first buffer may be small (inline in the response).
  ///
  /// @throws EngineException LIMIT_EXCEEDED when minBytes is more than a batch can ever have; DISK_FULL when shared memory is
  ///     exhausted; QUERY_CANCELED when the reader is gone
  @Nullable Buffer acquire(int minBytes);

  /// Calls `wake` once when [#acquire(int)] is worth trying again, or the reader is gone; at once if it already is. `wake` must not block.
  void whenWritable(Runnable wake);

  /// Longest batch in bytes.
  int maxBatchBytes();
}
