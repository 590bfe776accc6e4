package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Open transactions by handle: slot in the low 16 bits, generation above.
///
/// A generation is used once in the life of the data directory: it starts at the clock (in units of 8 µs) and grows by one per
/// transaction, which is slower than the clock. So a handle of an earlier incarnation never names another transaction.
///
/// Poller only.
final class TransactionTable {
  private static final int SLOT_BITS = 16;
  private static final long GENERATIONS_PER_MILLI = 125;
  private static final long EPOCH_MILLIS = 1_767_225_600_000L; // 2026-01-01

  private final @Nullable OpenTransaction[] slots;
  private final int[] freeSlots;
  private int freeCount;
  private long generation;

  TransactionTable(int capacity) {
    if (capacity < 1 || capacity > 1 << SLOT_BITS) {
      throw new IllegalArgumentException("capacity " + capacity);
    }
    slots = new OpenTransaction[capacity];
    freeSlots = new int[capacity];
    for (int i = 0; i < capacity; i++) {
      freeSlots[i] = capacity - 1 - i;
    }
    freeCount = capacity;
    generation = (System.currentTimeMillis() - EPOCH_MILLIS) * GENERATIONS_PER_MILLI;
  }

  /// A time not after the beginning of a transaction, in milliseconds since 1970.
  static long beganMillis(long handle) {
    return EPOCH_MILLIS + (handle >>> SLOT_BITS) / GENERATIONS_PER_MILLI;
  }

  /// No handle that was given out is of a later generation.
  long newest() {
    return generation << SLOT_BITS;
  }

  /// A handle for a transaction that begins.
  ///
  /// @throws EngineException OUT_OF_SLOTS
  long reserve() {
    if (freeCount == 0) {
      throw new EngineException(
              ErrorCode.OUT_OF_SLOTS,
              "endpoint has " + slots.length + " open transactions, its maximum")
          .withHint("Raise \"max_transactions\" of the endpoint.");
    }
    generation++;
    return generation << SLOT_BITS | freeSlots[freeCount - 1];
  }

  void put(OpenTransaction transaction) {
    int slot = slot(transaction.handle());
    if (slots[slot] != null || freeSlots[freeCount - 1] != slot) {
      throw new IllegalStateException("slot " + slot + " was not reserved");
    }
    freeCount--;
    slots[slot] = transaction;
  }

  @Nullable OpenTransaction get(long handle) {
    int slot = slot(handle);
    OpenTransaction transaction = slot < slots.length ? slots[slot] : null;
    return transaction != null && transaction.handle() == handle ? transaction : null;
  }

  void remove(OpenTransaction transaction) {
    int slot = slot(transaction.handle());
    if (slots[slot] == transaction) {
      slots[slot] = null;
      freeSlots[freeCount++] = slot;
    }
  }

  int count() {
    return slots.length - freeCount;
  }

  List<OpenTransaction> all() {
    List<OpenTransaction> all = new ArrayList<>(count());
    if (count() > 0) {
      for (OpenTransaction transaction : slots) {
        if (transaction != null) {
          all.add(transaction);
        }
      }
    }
    return all;
  }

  private static int slot(long handle) {
    return (int) (handle & (1 << SLOT_BITS) - 1);
  }
}
