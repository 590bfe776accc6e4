package dev.kakehashi.server.report;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends the process when its stop takes too long, whatever hangs, also other hooks of the JVM: a commit that was answered is in the log,
/// and the next start reads it. Used by one thread.
public final class StopLimit {
  private static final Logger LOG = LoggerFactory.getLogger(StopLimit.class);

  /// Exit status of the process then.
  static final int STATUS = 70;

  private static final int STACK_DEPTH = 30;

  private final Duration limit;
  private final Supplier<String> closing;
  private final Thread stopping = Thread.currentThread();

  private StopLimit(Duration limit, Supplier<String> closing) {
    this.limit = limit;
    this.closing = closing;
  }

  /// The calling thread begins to stop the endpoint: from now on the process has `limit` to end.
  ///
  /// @param closing which part is being closed; empty: all are
  public static void begin(Duration limit, Supplier<String> closing) {
    StopLimit its = new StopLimit(limit, closing);
    Thread.ofPlatform().daemon().name("kakehashi-stop-limit").start(its::watch);
  }

  private void watch() {
    try {
      Thread.sleep(limit);
      report();
    } catch (InterruptedException e) {
      LOG.error("the stop is ended before its limit", e); // nobody interrupts it
    } finally {
      Runtime.getRuntime().halt(STATUS);
    }
  }

  private void report() {
    StringBuilder threads = new StringBuilder();
    append(threads, stopping, stopping.getStackTrace());
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      Thread thread = each.getKey();
      if (!thread.equals(stopping)
          && !thread.equals(Thread.currentThread())
          && isOfInterest(thread)) {
        append(threads, thread, each.getValue());
      }
    }
    LOG.error(
        "the stop has taken {} s, stop_limit, and {}: the process is ended; the next start recovers what was committed{}",
        limit.toSeconds(),
        hung(),
        threads);
  }

  /// All but those of the JVM itself.
  private static boolean isOfInterest(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return group != null && group.getParent() != null;
  }

  private String hung() {
    String part = closing.get();
    return part.isEmpty()
        ? "hangs in another hook of the JVM, after all is closed"
        : "hangs in the end of " + part;
  }

  private static void append(StringBuilder to, Thread thread, StackTraceElement[] frames) {
    to.append("\n  thread \"").append(thread.getName()).append("\" ").append(thread.getState());
    for (int i = 0; i < Math.min(STACK_DEPTH, frames.length); i++) {
      to.append("\n\tat ").append(frames[i]);
    }
  }
}
