package dev.kakehashi.rest.job;

/// State of a key as a request meets it, if its effect is no job.
public sealed interface KeyClaim {
  /// It has been answered before: give that answer again.
  record Answered(StoredAnswer answer) implements KeyClaim {}

  /// It is the first one. The key is durable: the request takes effect, and then is completed; or it is abandoned, because nothing has
  /// happened. Thread-safe.
  non-sealed interface First extends KeyClaim, AutoCloseable {
    /// Keeps the answer; durable when this returns, unless the disk fails: then it is logged, and durable as soon as the disk can be
    /// written.
    void complete(StoredAnswer answer);

    /// Whether it has taken effect is not known: the key stays, without an answer.
    void leaveUnknown();

    /// The request has had no effect, and the key may be used again. Does nothing after the others.
    @Override
    void close();
  }
}
