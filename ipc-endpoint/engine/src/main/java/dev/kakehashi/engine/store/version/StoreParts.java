package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.durable.GroupCommit;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Readers;
import org.jspecify.annotations.Nullable;

/// Parts of a store that its readers and writers of rows need. One for each store, which it also identifies. Thread-safe.
///
/// @param pool memory of rows, versions and indexes
/// @param chainReaders a thread that follows undo records enters here first
/// @param slots the running transactions
/// @param clock how far commits have come
/// @param groupCommit how far they are durable
public record StoreParts(
    MemoryPool pool,
    Readers chainReaders,
    TransactionSlots slots,
    CommitClock clock,
    GroupCommit groupCommit) {

  /// Timestamps up to here are seen by everybody who runs or will run.
  public long horizon() {
    // Read before the slots are looked at, see TransactionSlots.
    long published = clock.published();
    return slots.horizon(published);
  }

  /// Where the reads of a view are noted; null unless its transaction is serializable, and somebody depends on what it reads.
  public @Nullable ReadSet readSet(ReadView view) {
    SlotOwner owner = slots.owner(TransactionSlots.slotOf(view.transactionId()));
    if (owner == null || owner.id() != view.transactionId()) {
      return null;
    }
    ReadSet reads = owner.noted();
    return reads == null || view.snapshot() <= owner.snapshot() ? reads : reads.newest();
  }

  /// The running transaction of a slot has read what was committed up to a timestamp: its own end is not reported as durable before that
  /// is.
  public void hasSeen(int slot, long timestamp) {
    if (timestamp <= groupCommit.durableTimestamp()) {
      return;
    }
    // If it has ended meanwhile, whoever has the slot now waits for more than he has read.
    SlotOwner owner = slots.owner(slot);
    if (owner != null) {
      owner.hasSeen(timestamp);
    }
  }
}
