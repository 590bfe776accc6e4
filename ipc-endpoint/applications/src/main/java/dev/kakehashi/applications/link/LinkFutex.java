package dev.kakehashi.applications.link;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kakehashi.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Sleeping on a 32-bit word of memory that two processes share, on Linux. An error of the system call is no more than an early return: who
/// sleeps looks again.
final class LinkFutex {
  private static final long SYS_FUTEX = System.getProperty("os.arch").equals("aarch64") ? 98 : 202;
  private static final long WAIT = 0;
  private static final long WAKE = 1;
  private static final long ALL = Integer.MAX_VALUE;

  private static final MethodHandle FUTEX =
      LibC.function(
          "syscall",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
          Linker.Option.firstVariadicArg(1));

  private LinkFutex() {}

  /// Sleeps while the word holds `expected`.
  ///
  /// @param word four bytes
  /// @param timeoutNanos at most so long; negative: for ever
  static void await(MemorySegment word, int expected, long timeoutNanos) {
    if (timeoutNanos < 0) {
      futex(word, WAIT, expected, MemorySegment.NULL);
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment timespec = arena.allocate(2 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
      timespec.set(JAVA_LONG, 0, timeoutNanos / 1_000_000_000L);
      timespec.set(JAVA_LONG, JAVA_LONG.byteSize(), timeoutNanos % 1_000_000_000L);
      futex(word, WAIT, expected, timespec);
    }
  }

  static void wakeAll(MemorySegment word) {
    futex(word, WAKE, ALL, MemorySegment.NULL);
  }

  private static void futex(MemorySegment word, long operation, long value, MemorySegment time) {
    try {
      long ignored = (long) FUTEX.invokeExact(SYS_FUTEX, word, operation, value, time, 0L, 0L);
    } catch (Throwable t) {
      throw new LinkageError("futex", t);
    }
  }

  /// The word's layout has four bytes.
  static final long WORD = JAVA_INT.byteSize();
}
