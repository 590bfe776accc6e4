package dev.kakehashi.applications.watch;

import dev.kakehashi.application.CodeGuard;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks at all calls under way every few milliseconds, on a thread of its own that sleeps while there are none. Thread-safe.
///
/// Code that does not heed its end is stopped: its thread is interrupted, and users' code that loops throws at its next turn, see
/// [CodeGuard]. Code that goes on in spite of it is logged with its stack.
public final class CallWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CallWatch.class);
  private static final long LOOK_NANOS = Duration.ofMillis(10).toNanos();
  private static final int IDLE_LOOKS = 100;
  private static final long REPORT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int STACK_DEPTH = 20;

  private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
  private final Map<Watched, Long> stuck = new HashMap<>(); // of the thread
  private final Set<Watched> reported = new HashSet<>(); // of the thread
  private final Carriers carriers = new Carriers(); // of the thread
  private Set<Watched> ran = Set.of(); // of the thread: at the last look
  private final Set<Thread> stopping = new HashSet<>(); // guarded by itself
  private final Thread thread;
  private volatile boolean asleep;
  private volatile boolean closed;

  public CallWatch() {
    thread = Thread.ofPlatform().daemon().name("kakehashi-application-watch").unstarted(this::run);
    thread.start();
  }

  public void add(Watched one) {
    watched.add(one);
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  public void remove(Watched one) {
    watched.remove(one);
  }

  /// Stops what a thread does, if it still does that.
  public void stop(Thread runs, BooleanSupplier stillRuns) {
    synchronized (stopping) {
      if (stillRuns.getAsBoolean()) {
        stopping.add(runs);
        CodeGuard.stop(runs);
        runs.interrupt();
      }
    }
  }

  /// The thread does something else now, and is not to be stopped any more. Called by itself.
  public void settle(Thread current) {
    synchronized (stopping) {
      if (stopping.remove(current)) {
        CodeGuard.resume(current);
        Thread.interrupted();
      }
    }
  }

  /// The thread has ended.
  public void forget(Thread ended) {
    synchronized (stopping) {
      if (stopping.remove(ended)) {
        CodeGuard.resume(ended);
      }
    }
  }

  private void run() {
    int idle = 0;
    while (!closed) {
      if (watched.isEmpty()) {
        idle++;
      } else {
        idle = 0;
        look();
      }
      if (idle < IDLE_LOOKS) {
        LockSupport.parkNanos(this, LOOK_NANOS);
      } else {
        carriers.adjust(0);
        ran = Set.of();
        asleep = true; // before the look: who adds one after it sees this
        if (watched.isEmpty() && !closed) {
          LockSupport.park(this);
        }
        asleep = false;
        idle = 0;
      }
    }
  }

  private void look() {
    long now = System.nanoTime();
    Set<Watched> still = new HashSet<>();
    Set<Watched> running = new HashSet<>();
    int occupying = 0;
    for (Watched one : watched) {
      if (isRunning(one)) {
        running.add(one);
        occupying += ran.contains(one) ? 1 : 0;
      }
      if (one.look(now)) {
        still.add(one);
        long since = stuck.computeIfAbsent(one, first -> now);
        if (now - since > REPORT_NANOS && reported.add(one)) {
          report(one);
        }
      }
    }
    ran = running;
    carriers.adjust(occupying);
    stuck.keySet().retainAll(still);
    reported.retainAll(still);
  }

  private static boolean isRunning(Watched one) {
    return one instanceof HasThread its
        && its.runs().isVirtual()
        && its.runs().getState() == Thread.State.RUNNABLE;
  }

  private static void report(Watched one) {
    StringBuilder stack = new StringBuilder();
    if (one instanceof HasThread its) {
      StackTraceElement[] frames = its.runs().getStackTrace();
      for (int i = 0; i < Math.min(STACK_DEPTH, frames.length); i++) {
        stack.append("\n\tat ").append(frames[i]);
      }
    }
    LOG.warn("users' code goes on after its end: {}{}", one, stack);
  }

  /// Something with a thread that can be shown.
  public interface HasThread {
    Thread runs();
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
