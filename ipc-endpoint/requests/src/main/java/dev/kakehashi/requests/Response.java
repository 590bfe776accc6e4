package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ResultSink;

/// Where the rows of one execution go, and then its answer: the output channel of an interface. Thread-safe.
public interface Response extends ResultSink, Answer {
  /// When the request arrived, by System.nanoTime().
  long beganNanos();

  /// Makes [#acquire(int)] refuse with QUERY_CANCELED and wakes producers that wait. No effect when another request than `requestId` has
  /// the response by now.
  void cancel(long requestId);

  /// Whether producers wait for the reader.
  boolean isWaiting();

  /// A number that grows whenever the reader takes something.
  long consumed();
}
