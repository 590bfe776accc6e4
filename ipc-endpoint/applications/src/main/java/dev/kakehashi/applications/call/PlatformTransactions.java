package dev.kakehashi.applications.call;

import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Transactions that the platform begins, commits, and tries again after a conflict. Used by a call's thread.
///
/// @param isolation as the engine is told
/// @param retries most
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
record PlatformTransactions(UserCall run, String isolation, int retries) {
  private static final long FIRST_WAIT_NANOS = Duration.ofMillis(1).toNanos();
  private static final int MOST_DOUBLINGS = 6;

  /// Work within one transaction; it runs anew at each try.
  @FunctionalInterface
  interface Body<R> {
    R run(LiveCall call) throws Throwable;
  }

  /// @param isWhole whether the call has succeeded when it has committed
  <R extends @Nullable Object> R run(Body<R> body, boolean isWhole) throws Throwable {
    for (int attempt = 0; ; attempt++) {
      run.takeConflict();
      try {
        return once(body, isWhole);
      } catch (Throwable t) {
        boolean isConflict =
            run.takeConflict()
                || (t instanceof EngineException engine && UserCall.isConflict(engine));
        if (!isConflict || attempt == retries || run.isCanceled()) {
          throw t;
        }
        // Transactions that win against each other for ever are pulled apart.
        long most = FIRST_WAIT_NANOS << Math.min(attempt, MOST_DOUBLINGS);
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(most)));
      }
    }
  }

  private <R extends @Nullable Object> R once(Body<R> body, boolean isWhole) throws Throwable {
    DirectTransaction transaction;
    try {
      transaction = run.begin(isolation);
    } catch (EngineException e) {
      throw new EngineFailure(e.sqlstate(), String.valueOf(e.getMessage()), e);
    }
    try {
      LiveCall call = LiveCall.within(run, transaction);
      R result = run.as(call, () -> callable(body, call));
      if (isWhole) {
        run.commit(transaction);
      } else {
        run.use(
            transaction,
            () -> {
              transaction.commit();
              return null;
            });
      }
      run.take(transaction);
      return result;
    } catch (Throwable t) {
      if (run.take(transaction)) {
        transaction.rollback();
      }
      throw t;
    }
  }

  private static <R extends @Nullable Object> R callable(Body<R> body, LiveCall call)
      throws Exception {
    try {
      return body.run(call);
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t);
    }
  }
}
