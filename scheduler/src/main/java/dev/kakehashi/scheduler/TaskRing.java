package dev.kakehashi.scheduler;

import org.jspecify.annotations.Nullable;

/// A growing queue of pairs (task, job), open at both ends. Not thread-safe.
///
/// Adding is all or nothing, also when no memory or no stack is left: room is made first, and what follows calls nothing
/// that could fail. (An [java.util.ArrayDeque] whose growth fails takes itself for empty.) Memory follows the most that was
/// ever in it, until it is empty: then a large table is given back.
final class TaskRing {
  private static final int KEPT = 2 * 1024;
  private static final @Nullable Object[] NONE = new @Nullable Object[0];

  private @Nullable Object[] slots = NONE; // pairs; the length is a power of two, or 0
  private int head; // index of a slot

  /// Slots in use. Less by two takes back what was added last, without a call; the slots are written before they are read.
  int used;

  int size() {
    return used >> 1;
  }

  void addLast(Task task, @Nullable Job job) {
    if (used == slots.length) {
      grow(2);
    }
    int at = (head + used) & (slots.length - 1);
    slots[at] = task;
    slots[at + 1] = job;
    used += 2;
  }

  void addFirst(Task task, @Nullable Job job) {
    if (used == slots.length) {
      grow(2);
    }
    int at = (head - 2) & (slots.length - 1);
    slots[at] = task;
    slots[at + 1] = job;
    head = at;
    used += 2;
  }

  /// Moves the pairs `from` to `to` of `batch` behind the last one: they are in one of both at any instant.
  void moveLast(@Nullable Object[] batch, int from, int to) {
    if (used + 2 * (to - from) > slots.length) {
      grow(2 * (to - from));
    }
    for (int i = 2 * from; i < 2 * to; i += 2) {
      int at = (head + used) & (slots.length - 1);
      slots[at] = batch[i];
      slots[at + 1] = batch[i + 1];
      batch[i] = null;
      batch[i + 1] = null;
      used += 2;
    }
  }

  /// Takes back what [#addLast] has added last.
  void undoLast() {
    used -= 2;
    int at = (head + used) & (slots.length - 1);
    slots[at] = null;
    slots[at + 1] = null;
  }

  /// The oldest task, or null.
  @Nullable Task firstTask() {
    return used == 0 ? null : (Task) slots[head];
  }

  @Nullable Job firstJob() {
    return used == 0 ? null : (Job) slots[head + 1];
  }

  @Nullable Task lastTask() {
    return used == 0 ? null : (Task) slots[(head + used - 2) & (slots.length - 1)];
  }

  @Nullable Job lastJob() {
    return used == 0 ? null : (Job) slots[(head + used - 1) & (slots.length - 1)];
  }

  void removeFirst() {
    slots[head] = null;
    slots[head + 1] = null;
    head = (head + 2) & (slots.length - 1);
    used -= 2;
    if (used == 0 && slots.length > KEPT) {
      slots = NONE;
      head = 0;
    }
  }

  private void grow(int atLeast) {
    int length = Math.max(8, Integer.highestOneBit(used + atLeast - 1) << 1);
    @Nullable Object[] larger = new @Nullable Object[length];
    int untilEnd = Math.min(used, slots.length - head);
    System.arraycopy(slots, head, larger, 0, untilEnd);
    System.arraycopy(slots, 0, larger, untilEnd, used - untilEnd);
    slots = larger;
    head = 0;
  }
}
