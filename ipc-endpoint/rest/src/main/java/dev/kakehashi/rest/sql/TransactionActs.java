package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.problem.Problem;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Beginnings and ends of transactions, without a statement. Blocks until the answer is there.
final class TransactionActs {
  private final SqlService service;

  TransactionActs(SqlService service) {
    this.service = service;
  }

  /// Action on an open transaction.
  interface Action {
    void start(RequestSession session, long handle, Consumer<RequestAnswer> done);
  }

  /// Does what a request without a statement, or with one that only begins or ends, asks for.
  ///
  /// @throws Problem 400: header and statement do not fit
  RequestAnswer perform(
      RequestUser user, TransactionHeader header, @Nullable TransactionStatement text)
      throws InterruptedException {
    return switch (header.verb()) {
      case AUTO -> throw outside(text);
      case BEGIN -> {
        if (text != null && text != TransactionStatement.BEGIN) {
          throw Problem.badRequest("a request cannot begin and end a transaction");
        }
        yield begin(user, header);
      }
      case ABORT -> {
        if (text != null && text != TransactionStatement.ROLLBACK) {
          throw Problem.badRequest(
              TransactionHeader.NAME + ": abort takes no statement; send an empty body");
        }
        yield rollback(user, header.handle());
      }
      case CONTINUE, END -> inOpen(user, header, text);
    };
  }

  private RequestAnswer inOpen(
      RequestUser user, TransactionHeader header, @Nullable TransactionStatement text)
      throws InterruptedException {
    boolean isEnd = header.verb() == TransactionHeader.Verb.END;
    return switch (text) {
      case BEGIN ->
          throw new EngineException(
              ErrorCode.ACTIVE_TRANSACTION, "there is already a transaction in progress");
      case COMMIT -> commit(user, header.handle(), header.commit());
      case ROLLBACK -> rollback(user, header.handle());
      case null ->
          isEnd
              ? commit(user, header.handle(), header.commit())
              : run(user, header.handle(), RequestSession::renew);
    };
  }

  RequestAnswer begin(RequestUser user, TransactionHeader header) throws InterruptedException {
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      return AnswerFuture.of(
          done -> lease.session().begin(header.options(), header.leaseNanos(), done));
    }
  }

  RequestAnswer commit(RequestUser user, String token, CommitResponse response)
      throws InterruptedException {
    return run(user, token, (session, handle, done) -> session.commit(handle, response, done));
  }

  RequestAnswer rollback(RequestUser user, String token) throws InterruptedException {
    return run(user, token, RequestSession::rollback);
  }

  /// Ends a transaction of anybody, see [RequestSession#terminate(String, Consumer)].
  RequestAnswer terminate(RequestUser user, String token) throws InterruptedException {
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      return AnswerFuture.of(done -> lease.session().terminate(token, done));
    }
  }

  /// @throws EngineException NO_SUCH_TRANSACTION
  RequestAnswer run(RequestUser user, String token, Action action) throws InterruptedException {
    long handle = service.handle(user, token);
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      return AnswerFuture.of(done -> action.start(lease.session(), handle, done));
    }
  }

  /// The failure of a statement that begins or ends a transaction in a request that names none: it could not mean any.
  private static EngineException outside(@Nullable TransactionStatement text) {
    return text == TransactionStatement.BEGIN
        ? new EngineException(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "a statement cannot begin a transaction that outlives its request")
            .withHint("Send the field \"" + TransactionHeader.NAME + ": begin\".")
        : new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no transaction in progress")
            .withHint("Name one in the field \"" + TransactionHeader.NAME + "\".");
  }
}
