package dev.kakehashi.queue.order;

import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// Tasks of one priority and fair key of a group. Guarded by the lock of the queue system.
///
/// Its chain are tasks without a key, by links of their segments; offered ones are heads of keys, and tasks that were given back. The
/// smallest position is next.
public final class FairLane {
  public final PriorityLevel level;
  public final @Nullable String fair;

  /// First position of the chain; -1: the chain is empty.
  public long head = -1;

  public long tail = -1;

  /// Offers that came in the order of their positions, as new keys do: adding and taking one is O(1). Made when it is needed.
  private @Nullable ArrayDeque<Offer> ordered;

  /// The other offers; made when it is needed.
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
    ArrayDeque<Offer> inOrder = ordered;
    if (inOrder == null) {
      inOrder = new ArrayDeque<>(4);
      ordered = inOrder;
    }
    Offer last = inOrder.peekLast();
    if (last == null || last.position < offer.position) {
      inOrder.add(offer);
      return;
    }
    PriorityQueue<Offer> now = offers;
    if (now == null) {
      now = new PriorityQueue<>(4, (left, right) -> Long.compare(left.position, right.position));
      offers = now;
    }
    now.add(offer);
  }

  private static @Nullable Offer first(@Nullable Queue<Offer> from) {
    if (from == null) {
      return null;
    }
    Offer first = from.peek();
    while (first != null && !first.stands()) {
      from.poll();
      first = from.peek();
    }
    return first;
  }

  /// Where the first offer is; null: there is none.
  private @Nullable Queue<Offer> firstQueue() {
    Offer one = first(ordered);
    Offer other = first(offers);
    if (one == null || (other != null && other.position < one.position)) {
      return other == null ? null : offers;
    }
    return ordered;
  }

  /// Position of what is next; -1: there is nothing.
  public long peek() {
    Queue<Offer> offered = firstQueue();
    Offer first = offered == null ? null : offered.peek();
    return first != null && (head < 0 || first.position < head) ? first.position : head;
  }

  /// Takes what is next; there is something.
  ///
  /// @return null: the head of the chain, which was at the position that [#peek] said
  public @Nullable Offer pop() {
    Queue<Offer> offered = firstQueue();
    Offer first = offered == null ? null : offered.peek();
    if (offered != null && first != null && (head < 0 || first.position < head)) {
      return offered.poll();
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
    return head < 0
        && (ordered == null || ordered.isEmpty())
        && (offers == null || offers.isEmpty());
  }
}
