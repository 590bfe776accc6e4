package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// State that all statements over HTTP share. Thread-safe.
public final class SqlService implements AutoCloseable {
  /// Types of parameters, to be inferred.
  static final int[] INFERRED = {};

  private final Requests requests;
  private final SessionPool sessions;
  private final AnswerRoom room;
  private final SqlLimits limits;
  private final TransactionQueues queues = new TransactionQueues();

  /// Timer whose tasks take microseconds.
  private final ScheduledThreadPoolExecutor timeouts =
      new ScheduledThreadPoolExecutor(
          1, Thread.ofPlatform().daemon().name("http-timeouts").factory());

  /// @param answerBytes of long answers together that are being read
  public SqlService(Requests requests, SqlLimits limits, long answerBytes) {
    this.requests = requests;
    this.sessions = new SessionPool(requests);
    this.room = new AnswerRoom(answerBytes);
    this.limits = limits;
    timeouts.setRemoveOnCancelPolicy(true);
  }

  /// Runs a task when the time of a request is over. The task blocks nobody.
  ///
  /// @param timeoutNanos 0: never
  /// @return to be canceled when the request needs it no longer
  Future<?> afterTimeout(long timeoutNanos, Runnable late) {
    return timeoutNanos == 0
        ? CompletableFuture.completedFuture(null)
        : timeouts.schedule(late, timeoutNanos, TimeUnit.NANOSECONDS);
  }

  Requests requests() {
    return requests;
  }

  SessionPool sessions() {
    return sessions;
  }

  /// Memory of answers.
  public AnswerRoom room() {
    return room;
  }

  /// Requests within transactions.
  TransactionQueues queues() {
    return queues;
  }

  SqlLimits limits() {
    return limits;
  }

  /// The handle of a user's transaction.
  ///
  /// @throws EngineException NO_SUCH_TRANSACTION: the token is none, or somebody else's
  long handle(RequestUser user, String token) {
    OptionalLong handle = requests.handle(user, token);
    if (handle.isEmpty()) {
      throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no such transaction")
          .withDetail("The transaction has ended, or belongs to another user.");
    }
    return handle.getAsLong();
  }

  /// The stream that codes an answer. Closing it ends the coding, and does not close `out`.
  OutputStream coded(AnswerFormat format, OutputStream out) {
    return format.isCoded() ? format.coding().encode(new Unclosed(out), Coding.DEFAULT_LEVEL) : out;
  }

  /// A stream whose end is somebody else's.
  private static final class Unclosed extends FilterOutputStream {
    Unclosed(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      out.write(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
      out.flush();
    }
  }

  @Override
  public void close() {
    timeouts.shutdownNow();
    sessions.close();
    room.close();
  }
}
