package dev.kakehashi.applications.version;

import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.applications.watch.Watched;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Threads that a version has started and not ended. Stateless.
final class LeftThreads {
  private static final Logger LOG = LoggerFactory.getLogger(LeftThreads.class);

  private LeftThreads() {}

  /// Interrupts the platform threads whose context is the loader, and lets loops of its code throw. Virtual ones are unknown: who parks for
  /// ever is collected, who runs keeps the loader.
  @SuppressWarnings("ReferenceEquality") // a loader is itself
  static void stop(ClassLoader loader, CallWatch watch, UserFailures failures) {
    for (Thread thread : threads()) {
      if (thread != null && thread.getContextClassLoader() == loader) {
        String line = "thread \"" + thread.getName() + "\" was left behind, and is interrupted";
        LOG.warn("application {} version {}: {}", failures.application(), failures.version(), line);
        failures.journal().log(failures.application(), failures.version(), 0, line);
        watch.stop(thread, thread::isAlive);
        watch.add(new LeftThread(thread, watch));
      }
    }
  }

  private static Thread[] threads() {
    ThreadGroup all = Thread.currentThread().getThreadGroup();
    while (all.getParent() != null) {
      all = all.getParent();
    }
    // Some may begin meanwhile; those of a version that is closed do not.
    Thread[] threads = new Thread[2 * all.activeCount() + 16];
    all.enumerate(threads, true);
    return threads;
  }

  private record LeftThread(Thread runs, CallWatch watch) implements Watched, CallWatch.HasThread {
    @Override
    public boolean look(long nowNanos) {
      if (!runs.isAlive()) {
        watch.forget(runs);
        watch.remove(this);
        return false;
      }
      watch.stop(runs, runs::isAlive);
      return true;
    }

    @Override
    public String toString() {
      return "thread \"" + runs.getName() + "\"";
    }
  }
}
