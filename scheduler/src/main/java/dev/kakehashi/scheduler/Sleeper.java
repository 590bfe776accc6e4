package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Fields of a sleeping worker that other threads touch. They are few and lie together: a thread that wakes a worker after a pause finds
/// none of them in the cache. Each line that is fetched one after the other delays the wake-up by a tenth of a microsecond.
final class Sleeper {
  private static final VarHandle PERMIT;

  static {
    try {
      PERMIT = MethodHandles.lookup().findVarHandle(Sleeper.class, "permit", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Worker worker;

  /// Changes when a fresh thread takes the worker over.
  volatile WorkerThread thread;

  /// The one that sleeps longer; guarded by the lock of [Sleepers], like the whole stack.
  @Nullable Sleeper below;

  /// Set by the waker after it has taken this worker off the stack, pairs with unpark. Cleared by the worker, before it
  /// announces its next sleep under the lock that the next waker takes.
  volatile boolean permit;

  boolean wokenSearching; // written by the waker before permit, as what follows
  long wokenNanos;
  @Nullable Inbox wokenFor; // where that is which it was woken for, if the waker knows
  boolean handedStolen;
  int handed; // tasks that the distributor has put into the worker's hand

  Sleeper(Worker worker, WorkerThread thread) {
    this.worker = worker;
    this.thread = thread;
  }

  /// Lets the worker go on. Called by the thread that took it off the stack.
  ///
  /// @param asSearcher whether that thread has counted it as searching
  void wake(boolean asSearcher) {
    wokenSearching = asSearcher;
    wokenNanos = Platform.nanoTime();
    wokenFor = null;
    permit = true;
    Platform.unpark(thread);
  }

  /// Opaque: the lock orders it.
  void takePermit() {
    PERMIT.setOpaque(this, false);
  }
}
