package dev.kakehashi.queue.order;

import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.system.Deadline;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;

/// Tasks of one segment whose time has not come, for one group: a bit each, and their seconds in the segment's index. Guarded by the lock
/// of the queue system.
///
/// Its deadline: when the next one is to be loaded, by the wall clock, or earlier.
public final class DelayedSegment extends Deadline {
  /// Seconds of the index begin here (2020); 31 bits reach until 2088.
  private static final long EPOCH_SECOND = 1_577_836_800L;

  private static final int BATCH = 1024;
  private static final long[] NONE = {};

  final DelayedTasks tasks;
  final QueueSegment segment;

  /// Earlier positions never were this group's.
  public final long from;

  /// By offset from the segment's base: those that wait here no more.
  public final BitSet taken;

  public int waiting;

  /// No task that waits has an earlier second.
  public int next = Integer.MAX_VALUE;

  /// Smallest ones of those that wait: second (upper half) and offset, in order. Some may be taken meanwhile.
  private long[] batch = NONE;

  private int batchAt;

  /// Whether the batch has the smallest ones.
  private boolean scanned;

  DelayedSegment(DelayedTasks tasks, QueueSegment segment, long from, BitSet taken) {
    this.tasks = tasks;
    this.segment = segment;
    this.from = from;
    this.taken = taken;
  }

  /// Second of the index for a task's time; not later than it, and never 0.
  public static int second(long millis) {
    long second = Math.floorDiv(millis, 1000L) - EPOCH_SECOND;
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE - 1, second));
  }

  private static long millis(int second) {
    return (second + EPOCH_SECOND) * 1000;
  }

  private ByteBuffer index() {
    return segment.index(tasks.group.center.files);
  }

  private static int second(ByteBuffer index, int offset) {
    return index.getInt(offset * TaskSegment.ENTRY + TaskSegment.SECOND);
  }

  boolean isWaiting(long position) {
    int offset = (int) (position - segment.base);
    return position >= from && !taken.get(offset) && second(index(), offset) != 0;
  }

  void added(int second) {
    scanned = false;
    // In a segment without waiting tasks, `next` may be the second of a task that is over.
    // After a restart that segment has no deadline.
    if (waiting++ == 0 || second < next) {
      next = second;
      arm();
    }
  }

  void take(long position) {
    taken.set((int) (position - segment.base));
    waiting--;
  }

  /// Sets the deadline; without anything that waits there is none.
  void arm() {
    if (waiting == 0) {
      tasks.group.center.clock.disarmWall(this);
    } else {
      tasks.group.center.clock.armWall(this, millis(next));
    }
  }

  /// Loads those whose time has come, earliest first.
  ///
  /// @param last second that is loaded
  void load(int most, int last) {
    for (int count = 0; count < most && first() <= last; count++) {
      long position = segment.base + (int) batch[batchAt++];
      take(position);
      tasks.load(position);
    }
    first();
  }

  /// Finds the next one.
  ///
  /// @return its second, which is [#next], too; the greatest int if there is none
  int first() {
    while (waiting > 0) {
      if (!scanned) {
        scan();
      }
      while (batchAt < batch.length && taken.get((int) batch[batchAt])) {
        batchAt++;
      }
      if (batchAt < batch.length) {
        next = (int) (batch[batchAt] >>> 32);
        return next;
      }
      if (batch.length == 0) {
        throw tasks.missing(segment, waiting);
      }
      scanned = false;
    }
    batch = NONE;
    batchAt = 0;
    next = Integer.MAX_VALUE;
    return next;
  }

  private void scan() {
    ByteBuffer index = index();
    long[] found = new long[Math.min(waiting, 2 * BATCH)];
    int count = 0;
    long greatest = Long.MAX_VALUE;
    for (int offset = (int) (Math.max(from, segment.base) - segment.base);
        offset < segment.count;
        offset++) {
      int second = second(index, offset);
      long key = (long) second << 32 | offset;
      if (second == 0 || key >= greatest || taken.get(offset)) {
        continue;
      }
      if (count == found.length) {
        if (count < 2 * BATCH) {
          throw tasks.missing(segment, waiting);
        }
        Arrays.sort(found);
        count = BATCH;
        greatest = found[BATCH - 1];
        if (key >= greatest) {
          continue;
        }
      }
      found[count++] = key;
    }
    Arrays.sort(found, 0, count);
    batch = Arrays.copyOf(found, Math.min(count, BATCH));
    batchAt = 0;
    scanned = true;
  }

  @Override
  public void reached() {
    tasks.reached(this);
  }
}
