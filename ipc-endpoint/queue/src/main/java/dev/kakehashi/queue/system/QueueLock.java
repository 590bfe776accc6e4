package dev.kakehashi.queue.system;

import dev.kakehashi.engine.api.queue.QueueHost;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one lock of all queues, and actions that wait until it is free. Any thread; reentrant.
///
/// It is held for microseconds. Files are written, records are committed and consumers are called without it, by actions that run when the
/// outermost [#exit] has let it go. Such an action sees the state that its critical section has left, or a later one.
public final class QueueLock {
  private static final Logger LOG = LoggerFactory.getLogger(QueueLock.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final QueueRun run;
  private final Work work;

  /// Guarded by the lock.
  private ArrayDeque<Runnable> later = new ArrayDeque<>();

  public QueueLock(QueueRun run, Work work) {
    this.run = run;
    this.work = work;
  }

  /// The end of a critical section: called by a thread that holds the lock, for the last time.
  public interface Work {
    /// Does what the section has left to do.
    void settle();

    /// Records to be written without the lock; null: none, or another thread writes.
    @Nullable Runnable nextWrite();
  }

  /// Where actions for later run.
  public enum Then {
    /// On this thread.
    HERE,
    /// On another thread: this one has locks, or no time.
    ELSEWHERE
  }

  public void enter() {
    lock.lock();
  }

  /// Ends the critical section; the outermost one runs what was left for later.
  public void exit() {
    exit(Then.HERE);
  }

  public void exit(Then then) {
    ArrayDeque<Runnable> todo = null;
    Runnable write = null;
    QueueHost to = run.hostIfStarted();
    try {
      if (lock.getHoldCount() == 1) {
        work.settle();
        if (!later.isEmpty()) {
          todo = later;
          later = new ArrayDeque<>();
        }
        write = to == null ? null : work.nextWrite();
      }
    } finally {
      lock.unlock();
    }
    if (todo != null) {
      if (then == Then.ELSEWHERE && to != null) {
        ArrayDeque<Runnable> all = todo;
        to.execute(() -> run(all));
      } else {
        run(todo);
      }
    }
    if (write != null && to != null) {
      if (then == Then.HERE) {
        write.run();
      } else {
        to.execute(write);
      }
    }
  }

  private static void run(ArrayDeque<Runnable> actions) {
    for (Runnable each : actions) {
      try {
        each.run();
      } catch (RuntimeException e) {
        LOG.error("An action of the queues failed", e);
      }
    }
  }

  /// Something to be done without the lock. Guarded by the lock.
  public void later(Runnable action) {
    later.add(action);
  }
}
