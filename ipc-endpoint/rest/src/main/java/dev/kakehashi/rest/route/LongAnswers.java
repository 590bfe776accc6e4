package dev.kakehashi.rest.route;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Threads that write long answers let others go first where processors are short: those who wait for microseconds, above all clients through shared memory.
@SuppressWarnings("restricted") // setpriority(2), with its documented signature
public final class LongAnswers {
  private static final Logger LOG = LoggerFactory.getLogger(LongAnswers.class);
  private static final int PRIO_PROCESS = 0;

  /// Of a thread's nice value: a tenth of the processor beside somebody who has the usual one.
  private static final int NICE = 10;

  private static final MethodHandle SETPRIORITY =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("setpriority"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_INT),
              Linker.Option.critical(false));

  private LongAnswers() {}

  /// Puts the thread behind that carries the calling virtual thread just now. To be called for each batch, because the virtual thread may have come to another one: a call costs a fraction of a
  /// microsecond.
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
