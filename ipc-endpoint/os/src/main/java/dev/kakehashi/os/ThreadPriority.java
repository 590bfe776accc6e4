package dev.kakehashi.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Threads that let others go first where processors are short: those who wait for microseconds, above all clients through shared memory.
///
/// For threads that stay so to their end: without a privilege nobody takes it back. A worker, whose next task may be another one's, has
/// `BackgroundWork` of the scheduler instead.
public final class ThreadPriority {
  private static final Logger LOG = LoggerFactory.getLogger(ThreadPriority.class);
  private static final int PRIO_PROCESS = 0;

  /// Nice value of a thread: it gets a tenth of the processor beside a thread that has the usual one.
  private static final int NICE = 10;

  private static final MethodHandle SETPRIORITY =
      LibC.function(
          "setpriority",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
          Linker.Option.critical(false));

  private ThreadPriority() {}

  /// Puts the calling thread behind; of a virtual thread the one that carries it just now. So a virtual thread calls for each piece of its
  /// work, because it may have come to another one: a call costs a fraction of a microsecond.
  public static void letOthersPass() {
    try {
      // 0 is the calling thread, on Linux.
      int failed = (int) SETPRIORITY.invokeExact(PRIO_PROCESS, 0, NICE);
      if (failed != 0) {
        LOG.debug("a thread keeps its priority");
      }
    } catch (Throwable e) {
      throw new IllegalStateException("setpriority", e);
    }
  }
}
