package dev.kakehashi.applications.function;

import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.applications.watch.Watched;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One function in one statement: brackets its batches, so that the watch sees one that does not end, and turns what it throws into errors.
///
/// Used by one task at a time; [#overdue] by the watch. The watch measures by its own looks, so a batch pays for two stores and no clock.
public final class FunctionRun implements Watched {
  private static final VarHandle TURN;

  static {
    try {
      TURN = MethodHandles.lookup().findVarHandle(FunctionRun.class, "turn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String member;
  private final UserFailures failures;
  private final MemberCounts counts;
  private final CallWatch watch;
  private final long limitNanos;
  private final Consumer<String> disable;
  private long ownTurn;

  @SuppressWarnings("unused") // through its VarHandle: odd while a batch runs
  private volatile long turn;

  private volatile @Nullable Thread thread;
  private volatile @Nullable String stop;

  // Of the watch.
  private long seenTurn;
  private long seenNanos;

  /// @param member as `function vat`
  /// @param limitNanos of a batch
  /// @param disable is told why the function must not be used any more
  public FunctionRun(
      String member,
      UserFailures failures,
      MemberCounts counts,
      CallWatch watch,
      long limitNanos,
      Consumer<String> disable) {
    this.member = member;
    this.failures = failures;
    this.counts = counts;
    this.watch = watch;
    this.limitNanos = limitNanos;
    this.disable = disable;
    watch.add(this);
  }

  /// A batch begins, on this thread.
  @SuppressWarnings("ReferenceEquality") // a thread is itself
  void begin() {
    check();
    Thread now = Thread.currentThread();
    if (thread != now) {
      thread = now;
    }
    TURN.setRelease(this, ++ownTurn);
  }

  /// Between two rows.
  void check() {
    if (stop != null) {
      throw stopped();
    }
  }

  /// The batch has ended.
  void end(int rows) {
    TURN.setVolatile(this, ++ownTurn);
    counts.add(rows);
    if (stop != null) {
      watch.settle(Thread.currentThread());
    }
  }

  /// What the code has thrown, as an error of the statement.
  EngineException failed(Throwable thrown) {
    if (stop != null) {
      return stopped();
    }
    if (thrown instanceof EngineException ours) {
      return ours;
    }
    counts.fail();
    return failures.report(member, 0, thrown);
  }

  private EngineException stopped() {
    return new EngineException(ErrorCode.QUERY_CANCELED, member + ": " + stop);
  }

  /// The statement does not use it any more; a batch that runs is stopped.
  public void close(@Nullable String why) {
    if (why != null && stop == null) {
      stop = why;
    }
    watch.remove(this);
  }

  @Override
  public boolean look(long nowNanos) {
    long now = turn;
    if ((now & 1) == 0 || now != seenTurn) {
      seenTurn = now;
      seenNanos = nowNanos;
      return false;
    }
    long taken = nowNanos - seenNanos;
    if (taken < limitNanos) {
      return false;
    }
    if (stop == null) {
      stop = "a batch took longer than function_time_limit";
      counts.fail();
    }
    Thread runs = thread;
    if (runs != null) {
      watch.stop(runs, () -> turn == now);
    }
    if (taken >= 10 * limitNanos) {
      disable.accept("a batch did not end within ten times of function_time_limit");
    }
    return true;
  }

  @Override
  public String toString() {
    return member;
  }
}
