package dev.kakehashi.scheduler.bench;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The least that anyone can do who hands a task to another thread: one place for it, and one thread that parks until
/// something is there, or spins. Its time is the machine's and the JVM's, so it is the floor of every scheduler's time.
///
/// For one submitter, who waits while the place is taken.
final class OneThread implements Executor, AutoCloseable {
  private final AtomicReference<@Nullable Runnable> place = new AtomicReference<>();
  private final boolean parks;
  private volatile boolean over;
  private final Thread thread = Thread.ofPlatform().name("one").daemon().unstarted(this::run);

  private OneThread(boolean parks) {
    this.parks = parks;
  }

  static OneThread parking() {
    return started(true);
  }

  /// Takes a processor until it is closed.
  static OneThread spinning() {
    return started(false);
  }

  private static OneThread started(boolean parks) {
    OneThread one = new OneThread(parks);
    one.thread.start();
    return one;
  }

  @Override
  public void execute(Runnable task) {
    while (place.get() != null) {
      Thread.onSpinWait();
    }
    place.set(task);
    if (parks) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!over) {
      Runnable task = place.get();
      if (task != null) {
        place.set(null);
        task.run();
      } else if (parks) {
        LockSupport.park(this);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  @Override
  public void close() {
    over = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
