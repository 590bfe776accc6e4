package dev.kakehashi.queue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Tasks of neighbouring positions of one queue: their bytes, and an index of them. Guarded by the lock of the queue system.
///
/// The last segment of a queue grows in memory. When it is full it is sealed, written by another thread, and from then on read from its two
/// files. Contents of files are written once: bytes never change, and a link goes from 0 to its value. So files that are newer than the
/// state that refers to them do no harm.
///
/// An index entry: position of the task that follows in the same chain (0: none), number of the task, offset of its bytes (-1: there is no
/// such task), second from which on it may be handed out (0: it waits for no time, see [DelayedSegment]).
final class TaskSegment {
  static final int ENTRY = 24;

  /// Offset of the second, within an entry.
  static final int SECOND = 20;

  /// Bytes from which on a segment is full.
  static final int FULL = Integer.getInteger("kakehashi.queue.segmentBytes", 4 << 20);

  private static final int MOST_TASKS = 64 << 10;
  private static final int SMALLEST = 512;

  final QueueCore queue;
  final long base;
  int count;
  int bytes;
  boolean sealed;
  long smallestId = Long.MAX_VALUE;
  long greatestId = Long.MIN_VALUE;

  /// Tasks that are open, for each slot of a group.
  int[] open = new int[1];

  /// Tasks that wait for their time, for each slot of a group; made when they are needed.
  private @Nullable DelayedSegment @Nullable [] delayed;

  /// In memory, until the files have all; null: in files.
  @Nullable ByteBuffer data;

  private @Nullable ByteBuffer index;

  /// Bytes of the data file that have been written.
  int written;

  /// Whether a file has been made.
  boolean onDisk;

  /// Whether files have changes that do not survive power loss.
  boolean unsynced;

  /// Whether it is no part of its queue any more.
  boolean freed;

  /// Another thread writes it now.
  boolean beingWritten;

  TaskSegment(QueueCore queue, long base) {
    this.queue = queue;
    this.base = base;
  }

  boolean inMemory() {
    return data != null;
  }

  boolean isFull() {
    return bytes >= FULL || count >= MOST_TASKS;
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

  @Nullable DelayedSegment delayed(int slot) {
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

  /// Adds a task at the end; positions between, which were given and never used, stay empty.
  ///
  /// @param second from which on it may be handed out; 0: at once
  void append(byte[] record, long position, long taskId, int second) {
    ByteBuffer into = dataFor(record.length);
    ByteBuffer entries = indexFor((int) (position - base) + 1);
    while (base + count < position) {
      putEntry(entries, count++, 0, -1, 0);
    }
    putEntry(entries, count++, taskId, bytes, second);
    into.put(bytes, record);
    into.putLong(bytes + TaskRecord.POSITION, position);
    bytes += record.length;
    into.limit(into.capacity());
    smallestId = Math.min(smallestId, taskId);
    greatestId = Math.max(greatestId, taskId);
  }

  private static void putEntry(ByteBuffer entries, int at, long taskId, int offset, int second) {
    entries.putLong(at * ENTRY, 0);
    entries.putLong(at * ENTRY + 8, taskId);
    entries.putInt(at * ENTRY + 16, offset);
    entries.putInt(at * ENTRY + SECOND, second);
  }

  private ByteBuffer dataFor(int more) {
    ByteBuffer now = data;
    if (now == null || now.capacity() - bytes < more) {
      int size = Math.max(now == null ? SMALLEST : now.capacity() * 2, bytes + more);
      ByteBuffer grown = ByteBuffer.allocate(size);
      if (now != null) {
        grown.put(0, now, 0, bytes);
      }
      data = grown;
      return grown;
    }
    return now;
  }

  private ByteBuffer indexFor(int tasks) {
    ByteBuffer now = index;
    if (now == null || now.capacity() < tasks * ENTRY) {
      int size = Math.max(now == null ? 4 * ENTRY : now.capacity() * 2, tasks * ENTRY);
      ByteBuffer grown = ByteBuffer.allocate(size);
      if (now != null) {
        grown.put(0, now, 0, count * ENTRY);
      }
      index = grown;
      return grown;
    }
    return now;
  }

  /// Read from files; the buffers are this segment's from now on.
  void loaded(ByteBuffer newData, ByteBuffer newIndex) {
    data = newData;
    index = newIndex;
    written = bytes;
    onDisk = true;
  }

  /// Files have all, but for links that were made meanwhile: they are copied.
  void leaveMemory(ByteBuffer indexOnDisk) {
    ByteBuffer now = index;
    if (now != null) {
      for (int at = 0; at < count; at++) {
        long link = now.getLong(at * ENTRY);
        if (link != 0 && indexOnDisk.getLong(at * ENTRY) != link) {
          indexOnDisk.putLong(at * ENTRY, link);
        }
      }
    }
    data = null;
    index = null;
    written = bytes;
    onDisk = true;
  }

  /// The index as it is in memory now; ready to be read.
  ByteBuffer indexCopy() {
    ByteBuffer copy = ByteBuffer.allocate(count * ENTRY);
    ByteBuffer now = index;
    if (now != null) {
      copy.put(0, now, 0, count * ENTRY);
    }
    return copy;
  }

  /// Bytes of the data that no file has; ready to be read.
  ByteBuffer unwrittenCopy() {
    ByteBuffer copy = ByteBuffer.allocate(bytes - written);
    ByteBuffer now = data;
    if (now != null) {
      copy.put(0, now, written, bytes - written);
    }
    return copy;
  }

  /// Memory that it takes.
  long memoryBytes() {
    ByteBuffer first = data;
    ByteBuffer second = index;
    return (first == null ? 0L : first.capacity()) + (second == null ? 0L : second.capacity());
  }

  /// Begins anew at another position with the memory of this one, which is done.
  TaskSegment recycled(long newBase) {
    TaskSegment result = new TaskSegment(queue, newBase);
    result.open = new int[open.length];
    if (!beingWritten && memoryBytes() <= 1 << 20) {
      result.data = data;
      result.index = index;
    }
    return result;
  }

  ByteBuffer index(SegmentFiles files) {
    ByteBuffer now = index;
    return now == null ? files.index(this) : now;
  }

  ByteBuffer data(SegmentFiles files) {
    ByteBuffer now = data;
    return now == null ? files.data(this) : now;
  }
}
