package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The running transactions: what readers of a stamp and the garbage collector ask.
///
/// | word of a slot | written by | read by |
/// |---|---|---|
/// | pinned | owner, CAS from 0 when it begins, the greatest number once it is prepared, 0 when it has ended | collector: no version that a snapshot from `pinned` on may need is freed |
/// | commit timestamp | owner, under the commit lock, before the timestamp is published; 0 before the slot is free again | whoever meets a stamp of the slot |
/// | latest | owner: its greatest snapshot, 0 while it may take another one | collector: nothing above is needed by it |
/// | owner | owner, before its first stamp | writers that meet a stamp of the slot while they hold the page's latch |
///
/// **Beginning.** The owner writes `pinned = p1` with a timestamp published earlier and only then reads the published timestamp again,
/// which is its snapshot. The collector reads the published timestamp first and then all slots. Either it sees the pin, or it read its
/// timestamp before the owner read its snapshot: in both cases its horizon is not above the snapshot. `latest` is written 0 before a
/// snapshot is taken and set afterwards: a thread that reads an old `latest` has read a published timestamp that the new snapshot is not
/// below.
///
/// **Ending.** A transaction's stamps are replaced by timestamps, under the page's latch, before the slot is freed. A reader that takes a
/// freed (or reused) slot's commit timestamp for that of its stamp finds the page's version changed and reads again; a writer looks
/// while it holds the latch, when the stamp cannot be replaced and the slot therefore not be freed.
public final class TransactionSlots {
  static final int CAPACITY = 1 << 14;

  /// Words per slot: one cache line, so that transactions do not disturb each other.
  private static final int STRIDE = 8;

  private final AtomicLongArray words = new AtomicLongArray(CAPACITY * STRIDE);
  private final AtomicReferenceArray<@Nullable SlotOwner> owners =
      new AtomicReferenceArray<>(CAPACITY);

  /// Slots from here on have never been used.
  private final AtomicInteger highWater = new AtomicInteger();

  /// Identifier of a transaction: no other has the same.
  ///
  /// @param number of the transaction among all of the store
  public static long transactionId(long number, int slot) {
    return number << Stamp.SLOT_BITS | slot;
  }

  /// Slot of a transaction.
  static int slotOf(long transactionId) {
    return Stamp.slot(transactionId);
  }

  /// Takes a free slot.
  ///
  /// @throws EngineException OUT_OF_SLOTS if there is none
  public int claim(long pinned) {
    int used = highWater.get();
    int start = used == 0 ? 0 : (int) (Thread.currentThread().threadId() % used);
    for (int i = 0; i < used; i++) {
      int slot = start + i < used ? start + i : start + i - used;
      if (words.get(slot * STRIDE) == 0 && words.compareAndSet(slot * STRIDE, 0, pinned)) {
        return slot;
      }
    }
    while (true) {
      int slot = highWater.get();
      if (slot == CAPACITY) {
        throw new EngineException(
            ErrorCode.OUT_OF_SLOTS, "too many running transactions: at most " + CAPACITY);
      }
      // The slot is pinned before the high-water mark lets the collector pass it by.
      if (words.compareAndSet(slot * STRIDE, 0, pinned)) {
        highWater.accumulateAndGet(slot + 1, Math::max);
        return slot;
      }
      highWater.accumulateAndGet(slot + 1, Math::max);
    }
  }

  public void own(int slot, SlotOwner owner) {
    owners.set(slot, owner);
  }

  public void release(int slot) {
    owners.set(slot, null);
    words.set(slot * STRIDE + 1, 0);
    words.set(slot * STRIDE + 2, 0);
    words.set(slot * STRIDE, 0);
  }

  /// Least snapshot that the slot's transaction needs; 0: the slot is free.
  public long pinned(int slot) {
    return words.get(slot * STRIDE);
  }

  /// The slot's transaction needs only what a snapshot from `pinned` on sees; called by it, with a timestamp that is published.
  public void pin(int slot, long pinned) {
    words.set(slot * STRIDE, pinned);
  }

  /// The slot's transaction is about to take another snapshot.
  public void unbound(int slot) {
    words.set(slot * STRIDE + 2, 0);
  }

  /// The slot's transaction reads with snapshots up to `latest` only, until [#unbound].
  public void bound(int slot, long latest) {
    words.set(slot * STRIDE + 2, latest);
  }

  /// The slot's transaction reads nothing any more; it keeps the slot.
  public void unpin(int slot) {
    words.set(slot * STRIDE, Long.MAX_VALUE);
  }

  public void setCommitTimestamp(int slot, long timestamp) {
    words.set(slot * STRIDE + 1, timestamp);
  }

  /// Commit timestamp of the slot's transaction; 0 while it runs.
  public long commitTimestamp(int slot) {
    return words.get(slot * STRIDE + 1);
  }

  public @Nullable SlotOwner owner(int slot) {
    return owners.get(slot);
  }

  /// Transactions that run, or are prepared; those that end or begin meanwhile may be missing.
  public List<SlotOwner> owners() {
    List<SlotOwner> running = new ArrayList<>();
    int used = highWater.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      if (owner != null) {
        running.add(owner);
      }
    }
    return running;
  }

  /// The least pinned timestamp, or `published` if there is none below.
  ///
  /// @param published read before this call
  long horizon(long published) {
    long horizon = published;
    int used = highWater.get();
    for (int slot = 0; slot < used; slot++) {
      long pinned = words.get(slot * STRIDE);
      if (pinned != 0 && pinned < horizon) {
        horizon = pinned;
      }
    }
    return horizon;
  }

  /// The snapshots in use.
  ///
  /// @param published read before this call
  /// @param least no snapshot is below, whatever is pinned
  /// @param limit all from here on may come to be seen, whatever is pinned
  public Snapshots snapshots(long published, long least, long limit) {
    Snapshots snapshots = new Snapshots(published);
    if (limit < published) {
      snapshots.add(Math.max(limit, least), Long.MAX_VALUE);
    }
    int used = highWater.get();
    for (int slot = 0; slot < used; slot++) {
      long pinned = words.get(slot * STRIDE);
      if (pinned != 0 && pinned <= published) {
        long latest = words.get(slot * STRIDE + 2);
        long from = Math.max(pinned, least);
        snapshots.add(from, latest == 0 ? Long.MAX_VALUE : Math.max(from, latest));
      }
    }
    snapshots.compact();
    return snapshots;
  }

  /// Transactions running now.
  public int running() {
    int count = 0;
    int used = highWater.get();
    for (int slot = 0; slot < used; slot++) {
      if (words.get(slot * STRIDE) != 0) {
        count++;
      }
    }
    return count;
  }
}
