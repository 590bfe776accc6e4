package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Waits for callbacks. None is longer than [#SECONDS]: an engine that does not answer fails the test.
public final class Waits {
  /// Longest wait for one answer.
  public static final long SECONDS = Long.getLong("kakehashi.tck.waitSeconds", 60);

  private static final long LOOK_NANOS = 100_000;

  private Waits() {}

  /// The value of an answer.
  ///
  /// @throws EngineException the answer was a failure
  /// @throws AssertionError there was none in time, or it came twice
  public static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof EngineException failure) {
        throw failure;
      }
      throw new AssertionError(e);
    } catch (TimeoutException e) {
      throw new AssertionError("no answer within " + SECONDS + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /// Starts an operation that answers null or a failure.
  public static CompletableFuture<Boolean> start(
      Consumer<Consumer<@Nullable EngineException>> operation) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    operation.accept(failure -> answer(answer, true, failure));
    return answer;
  }

  /// Runs an operation that answers null or a failure.
  public static void awaitEnd(Consumer<Consumer<@Nullable EngineException>> operation) {
    await(start(operation));
  }

  /// Completes an answer; a second one fails the test by the exception that its caller gets, and by the next wait.
  static <T> void answer(
      CompletableFuture<T> answer, @Nullable T value, @Nullable EngineException failure) {
    boolean first =
        failure == null ? answer.complete(value) : answer.completeExceptionally(failure);
    if (!first) {
      AssertionError twice = new AssertionError("an operation was answered twice");
      answer.obtrudeException(twice);
      throw twice;
    }
  }

  /// Waits until something holds that nobody calls back about.
  public static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within " + SECONDS + " s: " + what);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }
}
