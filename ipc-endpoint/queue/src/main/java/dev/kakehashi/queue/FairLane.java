package dev.kakehashi.queue;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/// Tasks of one priority and fair key of a group. Guarded by the lock of the queue system.
///
/// Its chain are tasks without a key, by links of their segments; offered ones are heads of keys, and tasks that were given back. The smallest position is next.
final class FairLane {
  final PriorityLevel level;
  final @Nullable String fair;

  /// Of the chain; -1: it is empty.
  long head = -1;

  long tail = -1;

  /// Made when it is needed.
  private @Nullable PriorityQueue<Offer> offers;

  /// Virtual time at which it is served next.
  double tag;

  /// In its level's heap; -1: not there.
  int heapIndex = -1;

  FairLane(PriorityLevel level, @Nullable String fair) {
    this.level = level;
    this.fair = fair;
  }

  void offer(Offer offer) {
    PriorityQueue<Offer> now = offers;
    if (now == null) {
      now = new PriorityQueue<>(4, (left, right) -> Long.compare(left.position, right.position));
      offers = now;
    }
    now.add(offer);
  }

  private @Nullable Offer firstOffer() {
    PriorityQueue<Offer> now = offers;
    if (now == null) {
      return null;
    }
    Offer first = now.peek();
    while (first != null && !first.stands()) {
      now.poll();
      first = now.peek();
    }
    return first;
  }

  /// Position of what is next; -1: there is nothing.
  long peek() {
    Offer first = firstOffer();
    return first != null && (head < 0 || first.position < head) ? first.position : head;
  }

  /// Takes what is next; there is something.
  ///
  /// @return null: the head of the chain, which was at the position that [#peek] said
  @Nullable Offer pop() {
    Offer first = firstOffer();
    PriorityQueue<Offer> now = offers;
    if (first != null && now != null && (head < 0 || first.position < head)) {
      return now.poll();
    }
    advance();
    return null;
  }

  /// The chain goes on to the next task that has no entry of its own.
  void advance() {
    head = level.group.following(head, tail);
    if (head < 0) {
      tail = -1;
    }
  }

  boolean isEmpty() {
    return head < 0 && (offers == null || offers.isEmpty());
  }
}
