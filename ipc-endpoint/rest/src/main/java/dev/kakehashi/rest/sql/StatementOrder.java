package dev.kakehashi.rest.sql;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A statement that another route has made of its request. Immutable.
public final class StatementOrder {
  private final SqlRequest request;
  private final AnswerFormat format;
  private final byte[] keyed;
  private final Duration wait;
  private final @Nullable String load;
  private final Runnable ended;

  private StatementOrder(
      SqlRequest request,
      AnswerFormat format,
      byte[] keyed,
      Duration wait,
      @Nullable String load,
      Runnable ended) {
    this.request = request;
    this.format = format;
    this.keyed = keyed;
    this.wait = wait;
    this.load = load;
    this.ended = ended;
  }

  /// @param sql one statement with the parameters $1, $2, …
  /// @param format of its rows
  /// @param keyed what a repeated request has to have equal under its key, besides target and fields: the body, or its digest
  public static StatementOrder of(
      String sql, AnswerFormat format, byte[] keyed, String... parameters) {
    return of(SqlRequest.of(sql, parameters), format, keyed);
  }

  static StatementOrder of(SqlRequest request, AnswerFormat format, byte[] keyed) {
    return new StatementOrder(request, format, keyed, Duration.ZERO, null, () -> {});
  }

  /// How long a request waits for its job that does not say so.
  public StatementOrder waiting(Duration longest) {
    return new StatementOrder(request, format, keyed, longest, load, ended);
  }

  /// The statement commits while it runs, and is refused in a transaction: it gets none unless the request names one.
  ///
  /// @param loadId under which it goes on after a crash; empty: it does not
  public StatementOrder commitsItself(String loadId) {
    return new StatementOrder(request, format, keyed, wait, loadId, ended);
  }

  /// Called when the statement has ended or will not run; perhaps more than once, on any thread. Must not block for long.
  public StatementOrder whenEnded(Runnable call) {
    return new StatementOrder(request, format, keyed, wait, load, call);
  }

  SqlRequest request() {
    return request;
  }

  AnswerFormat format() {
    return format;
  }

  byte[] keyed() {
    return keyed;
  }

  Duration longestWait() {
    return wait;
  }

  boolean isCommittingItself() {
    return load != null;
  }

  /// See [#commitsItself]; null: it does not commit while it runs.
  @Nullable String load() {
    return load;
  }

  Runnable ended() {
    return ended;
  }
}
