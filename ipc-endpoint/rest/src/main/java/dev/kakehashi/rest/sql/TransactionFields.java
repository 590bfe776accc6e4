package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import dev.kakehashi.rest.header.TransactionAnswer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Fields by which answers tell of their transaction.
final class TransactionFields {
  /// Field of a statement that has committed by itself.
  static final String COMMITTED =
      new TransactionAnswer(TransactionState.COMMITTED, "", 0, "").field();

  private TransactionFields() {}

  /// Field of a request that has ended.
  ///
  /// @param named whether it has named or begun a transaction; otherwise its statement had one of its own
  static String of(Requests requests, RequestUser user, RequestAnswer answer, boolean named) {
    @Nullable EngineException failure = answer.failure();
    if (named && answer.handle() != 0) {
      return answer(requests, user, answer).field();
    }
    return failure == null
        ? COMMITTED
        : new TransactionAnswer(TransactionState.ABORTED, "", 0, failure.sqlstate()).field();
  }

  static TransactionAnswer answer(Requests requests, RequestUser user, RequestAnswer answer) {
    @Nullable EngineException failure = answer.failure();
    boolean isOpen = answer.state() == TransactionState.ACTIVE;
    String sqlstate =
        answer.state() == TransactionState.ABORTED && failure != null ? failure.sqlstate() : "";
    return new TransactionAnswer(
        answer.state(),
        requests.token(user, answer.handle()),
        isOpen ? expires(answer.leaseDeadlineNanos()) : 0,
        sqlstate);
  }

  /// Seconds since 1970.
  static long expires(long leaseDeadlineNanos) {
    if (leaseDeadlineNanos == 0) {
      return 0;
    }
    long leftMillis = TimeUnit.NANOSECONDS.toMillis(leaseDeadlineNanos - System.nanoTime());
    return TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis() + leftMillis);
  }
}
