package dev.kakehashi.engine.txn;

import java.util.HashMap;
import java.util.Map;

/// Who waits for whom. A transaction waits for at most one other, so a cycle is found by following one chain.
///
/// Thread-safe (monitor); touched only by conflicts.
public final class Deadlocks {
  private final Map<Long, Long> waitsFor = new HashMap<>();

  /// Notes that a transaction waits for another.
  ///
  /// @return false, and nothing is noted, if that would close a cycle
  synchronized boolean add(long waiter, long owner) {
    Long at = owner;
    while (at != null) {
      if (at == waiter) {
        return false;
      }
      at = waitsFor.get(at);
    }
    waitsFor.put(waiter, owner);
    return true;
  }

  synchronized void remove(long waiter) {
    waitsFor.remove(waiter);
  }
}
