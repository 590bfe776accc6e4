package dev.kakehashi.queue.deliver;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.queue.order.TaskEntry;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Leases and calls by who has them, so that they end with him. Guarded by the lock of the queue system.
public final class LeaseHolders {
  private final Map<LeaseHolder, Held> holders = new HashMap<>();

  /// Leases and waiting calls of one holder.
  private static final class Held {
    final Set<TaskEntry> leases = new LinkedHashSet<>(4);
    final Set<Waiter> waiters = new LinkedHashSet<>(4);
  }

  private Held held(LeaseHolder holder) {
    return holders.computeIfAbsent(holder, _ -> new Held());
  }

  void leaseBegan(TaskEntry entry) {
    LeaseHolder holder = entry.holder;
    if (holder != null && !LeaseHolder.TIME.equals(holder)) {
      held(holder).leases.add(entry);
    }
  }

  void leaseEnded(TaskEntry entry) {
    LeaseHolder holder = entry.holder;
    entry.holder = null;
    Held held = holder == null ? null : holders.get(holder);
    if (holder != null && held != null) {
      held.leases.remove(entry);
      forgetIfEmpty(holder, held);
    }
  }

  public void came(Waiter waiter) {
    if (!LeaseHolder.TIME.equals(waiter.request.holder())) {
      held(waiter.request.holder()).waiters.add(waiter);
    }
  }

  void left(Waiter waiter) {
    LeaseHolder holder = waiter.request.holder();
    Held held = holders.get(holder);
    if (held != null) {
      held.waiters.remove(waiter);
      forgetIfEmpty(holder, held);
    }
  }

  private void forgetIfEmpty(LeaseHolder holder, Held held) {
    if (held.leases.isEmpty() && held.waiters.isEmpty()) {
      holders.remove(holder);
    }
  }

  /// The holder has gone: its calls end with nothing, its leases at once. One that a transaction is about to end stays until that is
  /// decided.
  public void end(LeaseHolder holder) {
    Held held = holders.get(holder);
    if (held == null) {
      return;
    }
    for (Waiter each : List.copyOf(held.waiters)) {
      each.consumers.endWait(each);
    }
    for (TaskEntry each : List.copyOf(held.leases)) {
      if (each.claimPending) {
        continue; // Its call has ended: it is given back when the claim is durable.
      }
      if (each.heldBy == null) {
        each.group.giveBack(each);
      } else {
        leaseEnded(each);
      }
    }
    holders.remove(holder);
  }
}
