package dev.kakehashi.applications.process;

import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.Watched;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A worker while it runs steps of processes: the watch sees one that does not end. One for each worker and watch; [#look] is the watch's,
/// the rest the worker's.
final class StepSlot implements Watched, CallWatch.HasThread {
  private static final VarHandle TURN;

  static {
    try {
      TURN = MethodHandles.lookup().findVarHandle(StepSlot.class, "turn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Thread thread = Thread.currentThread();
  private final CallWatch watch;
  private long ownTurn;
  private boolean isWatched;

  @SuppressWarnings("unused") // through its VarHandle: odd while a step runs
  private volatile long turn;

  private @Nullable String member; // written before the turn
  private long limitNanos;
  private volatile boolean stopped;

  // State of the watch.
  private long seenTurn;
  private long seenNanos;
  private int idleLooks;
  private volatile boolean leaves;

  StepSlot(CallWatch watch) {
    this.watch = watch;
  }

  CallWatch watch() {
    return watch;
  }

  void begin(String member, long limitNanos) {
    this.member = member;
    this.limitNanos = limitNanos;
    TURN.setVolatile(this, ++ownTurn);
    if (!isWatched || leaves) {
      leaves = false;
      isWatched = true;
      watch.add(this);
    }
  }

  /// @return whether the step was stopped
  boolean end() {
    TURN.setVolatile(this, ++ownTurn);
    if (!stopped) {
      return false;
    }
    watch.settle(thread);
    stopped = false;
    return true;
  }

  @Override
  public boolean look(long nowNanos) {
    long now = turn;
    if (now == seenTurn && (now & 1) == 0) {
      if (++idleLooks > 100) {
        leaves = true; // before the turn is read again: a step that begins after it sees this
        if (turn == now) {
          watch.remove(this);
        }
      }
      return false;
    }
    idleLooks = 0;
    if (now != seenTurn || (now & 1) == 0) {
      seenTurn = now;
      seenNanos = nowNanos;
      return false;
    }
    if (nowNanos - seenNanos < limitNanos) {
      return false;
    }
    stopped = true;
    watch.stop(thread, () -> turn == now);
    return true;
  }

  @Override
  public Thread runs() {
    return thread;
  }

  @Override
  public String toString() {
    return member + ", a step";
  }
}
