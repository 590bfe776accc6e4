package dev.kakehashi.applications.watch;

import dev.kakehashi.application.VersionLocal;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A virtual thread that runs users' code for one thread of the platform, its owner, which has to come back whatever that code does.
/// Confined to its owner.
///
/// The owner carries it, so that code which does not wait costs no change of threads. Code that waits, for a lock, a monitor or a socket,
/// leaves its carrier: the owner waits for it, for a bounded time, and goes on without it. Such a thread is *lost*: another one takes its
/// place, and it ends when it comes back.
///
/// ```
///  owner: hand over ─▶ carry ─▶ ended ─────────────────────▶ true
///                        └────▶ it waits ─▶ wait, with limit ─▶ true
///                                             └──────────────▶ false: lost
/// ```
///
/// Code that occupies its carrier without waiting keeps its owner, unless [dev.kakehashi.application.CodeGuard] stops it. So unknown code
/// is carried by other threads, see [MemberCounts#mayBeCarried].
public final class CodeThread {
  /// Time for stopped code to end by itself; it leaves its thread in order then.
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  @SuppressWarnings("ThreadLocalUsage") // one of these for each worker
  private static final ThreadLocal<@Nullable CodeThread> OF_OWNER = new ThreadLocal<>();

  private final Thread owner = Thread.currentThread();
  private final Thread thread;
  private final boolean canBeCarried;

  // State of the owner, on whose thread [#carry] is called while it hands over.
  private boolean hasBegun;
  private boolean takesOver;
  private @Nullable Runnable taken;

  /// Work of the thread: the owner sets it, and the thread clears it when it is done, which publishes what the work has written.
  private volatile @Nullable Runnable work;

  /// Whether the owner sleeps until `work` is cleared; the owner writes it before its look at `work`, the thread reads it after clearing
  /// that.
  private volatile boolean awaited;

  /// The owner has gone on without it.
  private volatile boolean lost;

  private CodeThread() {
    canBeCarried = CarriedThreads.areThere() && !owner.isVirtual();
    String name = VersionLocal.LASTING_THREAD;
    thread =
        canBeCarried
            ? CarriedThreads.unstarted(name, this::carry, this::run)
            : Thread.ofVirtual()
                .name(name)
                .inheritInheritableThreadLocals(false)
                .unstarted(this::run);
  }

  /// Runs code of users for the calling thread, on a thread of its own.
  ///
  /// @param carried whether the calling thread may carry it
  /// @param limitNanos after which somebody stops the code; it is given up soon after that
  /// @param body must not throw
  /// @return false: it goes on, and nobody waits for it any more
  public static boolean run(boolean carried, long limitNanos, Runnable body) {
    CodeThread its = OF_OWNER.get();
    if (its == null) {
      its = new CodeThread();
      OF_OWNER.set(its);
    }
    if (its.handOver(carried, limitNanos, body)) {
      return true;
    }
    OF_OWNER.remove();
    return false;
  }

  private boolean handOver(boolean carried, long limitNanos, Runnable body) {
    work = body;
    takesOver = carried && canBeCarried;
    if (hasBegun) {
      LockSupport.unpark(thread);
    } else {
      hasBegun = true;
      thread.start();
    }
    takesOver = false;
    Runnable continuation = taken;
    if (continuation != null) {
      taken = null;
      continuation.run();
    }
    return work == null || await(limitNanos);
  }

  private boolean await(long limitNanos) {
    long deadline = System.nanoTime() + limitNanos + GRACE_NANOS;
    boolean interrupted = false;
    awaited = true;
    while (work != null) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        lost = true; // before the last look: the thread looks at it after it has ended its work
        break;
      }
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
    }
    awaited = false;
    if (interrupted) {
      owner.interrupt();
    }
    return !lost;
  }

  /// Chooses the carrier of a thread's work: the owner if it hands over just now, else the usual carriers. Any thread, for this one and
  /// those that its code starts.
  @SuppressWarnings("ReferenceEquality") // a thread is itself
  private void carry(Runnable continuation) {
    if (Thread.currentThread() == owner && takesOver) {
      taken = continuation;
    } else {
      CarriedThreads.usual().execute(continuation);
    }
  }

  private void run() {
    while (!lost) {
      Runnable next = work;
      if (next == null) {
        LockSupport.park(this);
        Thread.interrupted(); // what comes late was meant for the last one
      } else {
        next.run();
        work = null;
        if (awaited) {
          LockSupport.unpark(owner);
        }
      }
    }
  }
}
