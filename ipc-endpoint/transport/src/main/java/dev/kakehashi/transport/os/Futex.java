package dev.kakehashi.transport.os;

import dev.kakehashi.os.Errno;
import java.lang.foreign.MemorySegment;

/// Sleeping on a 32-bit word of memory shared between processes.
public final class Futex {
  /// Sleeps while the word at `offset` holds `expected`, at most `timeoutNanos` (negative: for ever). May return early.
  public static void await(MemorySegment memory, long offset, int expected, long timeoutNanos) {
    int result = Linux.futexWait(memory.asSlice(offset, Integer.BYTES), expected, timeoutNanos);
    if (result < 0
        && result != -Errno.EAGAIN
        && result != -Errno.EINTR
        && result != -Errno.ETIMEDOUT) {
      throw new IllegalStateException("could not wait on futex: errno " + -result);
    }
  }

  /// Wakes one sleeper.
  public static void wake(MemorySegment memory, long offset) {
    wake(memory, offset, 1);
  }

  /// Wakes every sleeper.
  public static void wakeAll(MemorySegment memory, long offset) {
    wake(memory, offset, Integer.MAX_VALUE);
  }

  private static void wake(MemorySegment memory, long offset, int count) {
    int result = Linux.futexWake(memory.asSlice(offset, Integer.BYTES), count);
    if (result < 0) {
      throw new IllegalStateException("could not wake futex: errno " + -result);
    }
  }

  private Futex() {}
}
