package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.requests.RequestAnswer;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The answer of one call of a session, for a thread that waits for it.
final class AnswerFuture implements Consumer<RequestAnswer> {
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable RequestAnswer answer; // written before the latch opens

  @Override
  public void accept(RequestAnswer given) {
    answer = given;
    done.countDown();
  }

  /// Makes the call and waits.
  static RequestAnswer of(Consumer<Consumer<RequestAnswer>> call) throws InterruptedException {
    AnswerFuture future = new AnswerFuture();
    call.accept(future);
    future.done.await();
    return java.util.Objects.requireNonNull(future.answer);
  }

  /// As [#of], for a call that has to succeed.
  ///
  /// @throws EngineException why it has not
  static RequestAnswer succeeded(Consumer<Consumer<RequestAnswer>> call)
      throws InterruptedException {
    RequestAnswer answer = of(call);
    EngineException failure = answer.failure();
    if (failure != null) {
      throw failure;
    }
    return answer;
  }
}
