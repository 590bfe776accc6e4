package dev.kakehashi.applications.call;

import dev.kakehashi.os.ThreadPriority;

/// Threads of calls: virtual ones, and for what occupies a processor platform threads that let all others go first.
final class CallThreads {
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
              ThreadPriority.letOthersPass();
              body.run();
            })
        : Thread.ofVirtual().name(name).inheritInheritableThreadLocals(false).unstarted(body);
  }
}
