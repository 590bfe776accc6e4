package dev.kakehashi.applications.call;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Threads of calls: virtual ones, and for what occupies a processor platform threads that let all others go first.
@SuppressWarnings("restricted") // setpriority(2), with its documented signature
final class CallThreads {
  private static final Logger LOG = LoggerFactory.getLogger(CallThreads.class);
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
                  ValueLayout.JAVA_INT));

  private CallThreads() {}

  /// A virtual thread, or what occupies a processor.
  ///
  /// @param stackBytes of a platform thread
  static Thread unstarted(String name, long stackBytes, boolean processorBound, Runnable body) {
    return processorBound
        ? Thread.ofPlatform()
            .name(name)
            .daemon()
            .stackSize(stackBytes)
            .inheritInheritableThreadLocals(false)
            .unstarted(() -> {
              letOthersPass();
              body.run();
            })
        : Thread.ofVirtual().name(name).inheritInheritableThreadLocals(false).unstarted(body);
  }

  private static void letOthersPass() {
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
