package dev.kakehashi.requests;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Bounds what the open results of all sessions hold in the JVM's heap: each is an execution with its operators and batches, and thousands
/// of them that fill up after they have been admitted end the process. The memory of the first results of each session, whose slots are
/// reserved, is not counted.
///
/// The poller admits; any thread releases. Both change one counter; that a release is seen late only refuses what would have fitted.
final class OpenResults {
  /// State of an execution and its tasks.
  private static final long EXECUTION_BYTES = 128 << 10;

  /// A column's vectors of 1024 values in all operators of all tasks: 458 cursors of three columns, ordered by an index, held 281 MB of
  /// them (`jcmd PID GC.class_histogram`).
  private static final long COLUMN_BYTES = 192 << 10;

  private final long limitBytes;
  private final AtomicLong heldBytes = new AtomicLong();

  /// @param limitBytes of all results together
  OpenResults(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /// Half of the heap: the rest is for everybody's other statements.
  static OpenResults ofHeap() {
    return new OpenResults(Runtime.getRuntime().maxMemory() / 2);
  }

  /// Estimated bytes of a result.
  static long bytes(int columns) {
    return EXECUTION_BYTES + columns * COLUMN_BYTES;
  }

  /// Estimated bytes of those that are open. Any thread.
  long heldBytes() {
    return heldBytes.get();
  }

  /// Whether a result of so many columns fits beside those that are open. Poller only.
  boolean hasRoom(int columns) {
    return heldBytes.get() + bytes(columns) <= limitBytes;
  }

  /// Counts a result. Poller only.
  ///
  /// @param whenEnded what else is to be done when it has ended
  /// @return to be called once when the result has ended, by any thread
  Runnable admit(int columns, @Nullable Runnable whenEnded) {
    long bytes = bytes(columns);
    heldBytes.addAndGet(bytes);
    return () -> {
      heldBytes.addAndGet(-bytes);
      if (whenEnded != null) {
        whenEnded.run();
      }
    };
  }
}
