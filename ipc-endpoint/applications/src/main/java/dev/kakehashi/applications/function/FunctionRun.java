package dev.kakehashi.applications.function;

import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.CodeThread;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.applications.watch.Watched;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One function in one statement: runs its batches on a [CodeThread], so that the watch sees one that does not end and its task goes on
/// without it, and turns what it throws into errors.
///
/// Used by one task at a time; [#look] by the watch. The watch measures by its own looks, so a batch pays for two stores and no clock.
public final class FunctionRun implements Watched, CallWatch.HasThread {
  private static final VarHandle TURN;

  static {
    try {
      TURN = MethodHandles.lookup().findVarHandle(FunctionRun.class, "turn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int SHOWN_CHARACTERS = 100;

  private final String member;
  private final UserFailures failures;
  private final MemberCounts counts;
  private final CallWatch watch;
  private final long limitNanos;
  private final Consumer<String> disable;
  private long ownTurn;

  @SuppressWarnings("unused") // through its VarHandle: odd while a batch runs
  private volatile long turn;

  private volatile Thread thread = Thread.currentThread(); // of the last batch
  private volatile @Nullable String stop;
  private volatile boolean isLost; // a batch goes on that nobody waits for

  /// Exception of the last batch; published by the end of its code.
  private @Nullable EngineException failure;

  // State of the watch.
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

  /// Code of users.
  @FunctionalInterface
  interface Batch<T> {
    T run() throws Throwable;
  }

  /// Runs a batch, and waits for it as long as it may take.
  ///
  /// The data that a batch writes belongs to it alone until it has ended: a batch that is given up may write it later.
  ///
  /// @param rows of it, for people
  /// @return its result
  /// @throws EngineException what the code has thrown; QUERY_CANCELED if it took too long, also if it goes on
  <T> T call(int rows, Batch<T> batch) {
    check();
    Code<T> code = new Code<>(rows, batch);
    if (!CodeThread.run(counts.mayBeCarried(), limitNanos, code)) {
      isLost = true;
      overdue();
      throw stopped();
    }
    EngineException thrown = failure;
    if (thrown != null) {
      failure = null;
      throw thrown;
    }
    counts.endedInTime();
    return code.result();
  }

  /// A batch on its thread.
  private final class Code<T> implements Runnable {
    private final int rows;
    private final Batch<T> batch;
    private @Nullable T result;

    Code(int rows, Batch<T> batch) {
      this.rows = rows;
      this.batch = batch;
    }

    @SuppressWarnings("NullAway") // null if the code gave that
    T result() {
      return result;
    }

    @Override
    public void run() {
      try {
        begin();
        result = batch.run();
      } catch (Throwable t) {
        failure = failed(t);
      } finally {
        end(rows);
      }
    }
  }

  /// A batch begins, on this thread.
  @SuppressWarnings("ReferenceEquality") // a thread is itself
  private void begin() {
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

  /// A null for which the code has no place, with the call that it was in.
  ///
  /// @param arguments `[parameter][row]`
  EngineException atRow(EngineException refused, @Nullable Object[][] arguments, int row) {
    if (refused.code() != ErrorCode.NULL_VALUE_NOT_ALLOWED) {
      return refused;
    }
    StringBuilder call = new StringBuilder();
    for (@Nullable Object[] values : arguments) {
      String text =
          values[row] instanceof Object[] elements
              ? Arrays.deepToString(elements)
              : values[row] == null ? "NULL" : String.valueOf(values[row]);
      call.append(call.isEmpty() ? "" : ", ")
          .append(text, 0, Math.min(text.length(), SHOWN_CHARACTERS));
    }
    return new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED,
            member + ": " + refused.getMessage() + ", in a call with (" + call + ")")
        .withHint("Make the function strict, or use a class that has null, as Integer.");
  }

  /// The batch has ended.
  private void end(int rows) {
    TURN.setVolatile(this, ++ownTurn);
    counts.add(rows);
    if (stop != null) {
      watch.settle(Thread.currentThread());
      if (isLost) {
        watch.remove(this);
      }
    }
  }

  /// It took too long.
  private void overdue() {
    counts.overran();
    if (stop == null) {
      stop = "a batch took longer than function_time_limit";
      counts.fail();
    }
  }

  /// Exception of the code, as an error of the statement.
  private EngineException failed(Throwable thrown) {
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
    if (!isLost || (turn & 1) == 0) {
      watch.remove(this); // else its thread does when it comes back
    }
  }

  @Override
  public Thread runs() {
    return thread;
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
    overdue();
    watch.stop(thread, () -> turn == now);
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
