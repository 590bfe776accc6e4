package dev.kakehashi.application;

import java.time.Duration;

/// How a handler runs.
public interface HandlerOptions {
  /// Most tasks at a time, 1 to 1,000; 1 without.
  HandlerOptions concurrency(int most);

  /// How long a task is lent; the queue's without. It is lent again while its handler runs.
  HandlerOptions lease(Duration lease);

  /// The subscription group whose tasks it handles.
  HandlerOptions group(String name);

  HandlerOptions isolation(Isolation isolation);

  HandlerOptions timeLimit(Duration limit);
}
