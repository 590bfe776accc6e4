package dev.kakehashi.queue.order;

import org.jspecify.annotations.Nullable;

/// A task that is offered to the order of its group, beside the chain of its lane: by its key, or because it was given back. Immutable;
/// guarded by the lock of the queue system.
public final class Offer {
  final long position;

  /// Its key's; null: it has no key.
  public final @Nullable KeyChain chain;

  /// Null: it is the head of its key's chain.
  public final @Nullable TaskEntry entry;

  Offer(long position, @Nullable KeyChain chain, @Nullable TaskEntry entry) {
    this.position = position;
    this.chain = chain;
    this.entry = entry;
  }

  /// Whether it still is.
  boolean stands() {
    if (chain != null) {
      return chain.offered == this && (entry == null || entry.phase == TaskEntry.Phase.READY);
    }
    return entry != null && entry.phase == TaskEntry.Phase.READY;
  }
}
