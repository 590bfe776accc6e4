package dev.kakehashi.engine.txn;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Who waits for whom: for the owner of a row, or for all that hold a lock.
///
/// Thread-safe (monitor); touched only by those that wait.
public final class Deadlocks {
  private final Map<Long, List<Long>> waitsFor = new HashMap<>();

  /// Notes that a transaction waits until others have ended; replaces what it waited for.
  ///
  /// @return false, and it is noted that it waits for nobody, if that would close a cycle
  synchronized boolean add(long waiter, Collection<Long> owners) {
    waitsFor.remove(waiter);
    Set<Long> seen = new HashSet<>();
    for (long owner : owners) {
      if (reaches(owner, waiter, seen)) {
        return false;
      }
    }
    waitsFor.put(waiter, List.copyOf(owners));
    return true;
  }

  private boolean reaches(long from, long wanted, Set<Long> seen) {
    if (from == wanted) {
      return true;
    }
    if (seen.add(from)) {
      for (long next : waitsFor.getOrDefault(from, List.of())) {
        if (reaches(next, wanted, seen)) {
          return true;
        }
      }
    }
    return false;
  }

  synchronized void remove(long waiter) {
    waitsFor.remove(waiter);
  }
}
