package dev.kakehashi.queue.order;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/// Numbers that this run gives: of tasks, and nonces of leases. Guarded by the lock of the queue system, but for what says otherwise.
///
/// A task's number has its run's incarnation in front, so no two runs give the same one. A restored backup may have an incarnation that
/// tasks in the log are past. So the start takes one beyond the greatest that was seen.
public final class TaskNumbers {
  private static final int COUNT_BITS = 40;

  private final AtomicLong taskCount = new AtomicLong();
  private final SecureRandom random = new SecureRandom();

  /// Drawn together, because a draw costs more than a number.
  private final int[] nonces = new int[256];

  private int nonceAt = nonces.length;

  /// Written by the start, read by any thread.
  private volatile long incarnation;

  private long seenIncarnation;

  TaskNumbers(long incarnation) {
    this.incarnation = incarnation;
  }

  /// Number of this run; any thread.
  public long incarnation() {
    return incarnation;
  }

  public void setIncarnation(long to) {
    incarnation = to;
  }

  /// Greatest incarnation that replayed tasks have.
  public long seenIncarnation() {
    return seenIncarnation;
  }

  /// A task was replayed.
  void seen(long taskId) {
    seenIncarnation = Math.max(seenIncarnation, taskId >>> COUNT_BITS);
  }

  /// Any thread.
  public long newTaskId() {
    return (incarnation << COUNT_BITS) | taskCount.incrementAndGet();
  }

  /// A number that nobody can guess.
  public int nonce() {
    if (nonceAt == nonces.length) {
      byte[] bytes = new byte[nonces.length * Integer.BYTES];
      random.nextBytes(bytes);
      ByteBuffer.wrap(bytes).asIntBuffer().get(nonces);
      nonceAt = 0;
    }
    return nonces[nonceAt++];
  }
}
