package dev.kakehashi.engine.txn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Waits of transactions for others: for the owner of a row, or for all that hold a lock.
///
/// Thread-safe (monitor); touched only by those that wait.
public final class Deadlocks {
  /// Wait of a transaction.
  ///
  /// @param number of the wait; later ones have greater numbers
  private record Waiting(List<Long> owners, long number) {}

  /// A transaction that waits for the end of another.
  ///
  /// @param number of the wait, which the waits for the other owners of the same lock have, too
  public record Edge(long waiter, long owner, long number) {}

  private final Map<Long, Waiting> waitsFor = new HashMap<>();
  private long numbers;

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
    waitsFor.put(waiter, new Waiting(List.copyOf(owners), ++numbers));
    return true;
  }

  private boolean reaches(long from, long wanted, Set<Long> seen) {
    if (from == wanted) {
      return true;
    }
    if (seen.add(from)) {
      Waiting waiting = waitsFor.get(from);
      for (long next : waiting == null ? List.<Long>of() : waiting.owners()) {
        if (reaches(next, wanted, seen)) {
          return true;
        }
      }
    }
    return false;
  }

  /// One of several that a transaction waits for has ended, if it still waits.
  synchronized void ended(long waiter, long owner) {
    waitsFor.computeIfPresent(
        waiter,
        (_, waiting) ->
            new Waiting(
                waiting.owners().stream().filter(each -> each != owner).toList(),
                waiting.number()));
  }

  synchronized void remove(long waiter) {
    waitsFor.remove(waiter);
  }

  /// All waits, as they are at one moment.
  public synchronized List<Edge> list() {
    List<Edge> edges = new ArrayList<>();
    waitsFor.forEach((waiter, waiting) -> {
      for (long owner : waiting.owners()) {
        edges.add(new Edge(waiter, owner, waiting.number()));
      }
    });
    return edges;
  }
}
