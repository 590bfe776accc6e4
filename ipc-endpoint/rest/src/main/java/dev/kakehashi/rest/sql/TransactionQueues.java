package dev.kakehashi.rest.sql;

import java.util.concurrent.ConcurrentHashMap;

/// How many requests are under way in each transaction. They take turns there, so that a client who sends without waiting would fill the
/// turns of others with requests that wait. Thread-safe.
final class TransactionQueues {
  /// Requests of one transaction at a time.
  static final int MOST = 16;

  /// Transactions with requests alone.
  private final ConcurrentHashMap<Long, Integer> counts = new ConcurrentHashMap<>();

  /// @return false: there are too many already, and this one must not run
  boolean enter(long handle) {
    int count = counts.merge(handle, 1, Integer::sum);
    if (count <= MOST) {
      return true;
    }
    leave(handle);
    return false;
  }

  /// A request that was let in has ended.
  void leave(long handle) {
    counts.compute(handle, (key, count) -> count == null || count == 1 ? null : count - 1);
  }
}
