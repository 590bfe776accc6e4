package dev.kakehashi.queue.order;

import dev.kakehashi.queue.file.TaskSegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A segment with what groups have in it. Guarded by the lock of the queue system.
///
/// Groups have slots in each segment of their queue. A segment is done when no group has an open task in it; its files are not needed then.
public final class QueueSegment extends TaskSegment {
  private final QueueCore queue;

  /// Tasks that are open, for each slot of a group.
  public int[] open = new int[1];

  /// Tasks that wait for their time, for each slot of a group; made when they are needed.
  private @Nullable DelayedSegment @Nullable [] delayed;

  public QueueSegment(QueueCore queue, long base) {
    super(queue.queueId, base);
    this.queue = queue;
  }

  boolean isDone() {
    for (int each : open) {
      if (each != 0) {
        return false;
      }
    }
    return true;
  }

  /// Makes room for the counts of a slot.
  void openSlot(int slot) {
    if (slot >= open.length) {
      open = Arrays.copyOf(open, slot + 1);
    }
  }

  public @Nullable DelayedSegment delayed(int slot) {
    @Nullable DelayedSegment[] all = delayed;
    return all == null || slot >= all.length ? null : all[slot];
  }

  void setDelayed(int slot, @Nullable DelayedSegment to) {
    @Nullable DelayedSegment[] all = delayed;
    if (all == null) {
      all = new DelayedSegment[slot + 1];
    } else if (slot >= all.length) {
      all = Arrays.copyOf(all, slot + 1);
    }
    all[slot] = to;
    delayed = all;
  }

  /// Begins anew at another position with the memory of this one, which is done.
  QueueSegment recycled(long newBase) {
    QueueSegment result = new QueueSegment(queue, newBase);
    result.open = new int[open.length];
    result.reuseMemory(this);
    return result;
  }
}
