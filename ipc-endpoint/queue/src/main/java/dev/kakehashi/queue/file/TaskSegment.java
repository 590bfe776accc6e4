package dev.kakehashi.queue.file;

import dev.kakehashi.queue.record.TaskRecord;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Tasks of neighbouring positions of one queue: their bytes, and an index of them. Guarded by the lock of the queue system.
///
/// The last segment of a queue grows in memory. When it is full it is sealed, written by another thread, and from then on read from its two
/// files. Contents of files are written once: bytes never change, and a link goes from 0 to its value. So files that are newer than the
/// state that refers to them do no harm.
///
/// An index entry: position of the task that follows in the same chain (0: none), number of the task, offset of its bytes (-1: there is no
/// such task), second from which on it may be handed out (0: it waits for no time).
public class TaskSegment {
  public static final int ENTRY = 24;

  /// Offset of the second, within an entry.
  public static final int SECOND = 20;

  /// Bytes from which on a segment is full.
  public static final int FULL = Integer.getInteger("kakehashi.queue.segmentBytes", 4 << 20);

  private static final int MOST_TASKS = 64 << 10;
  private static final int SMALLEST = 512;

  public final long queueId;

  /// Position of its first task.
  public final long base;

  public int count;
  public int bytes;
  public boolean sealed;
  public long smallestId = Long.MAX_VALUE;
  public long greatestId = Long.MIN_VALUE;

  /// In memory, until the files have all; null: in files.
  @Nullable ByteBuffer data;

  private @Nullable ByteBuffer index;

  /// Bytes of the data file that have been written.
  public int written;

  /// Whether a file has been made.
  public boolean onDisk;

  /// Whether files have changes that do not survive power loss.
  boolean unsynced;

  /// Whether it is no part of its queue any more.
  boolean freed;

  /// Another thread writes it now.
  boolean beingWritten;

  protected TaskSegment(long queueId, long base) {
    this.queueId = queueId;
    this.base = base;
  }

  public boolean inMemory() {
    return data != null;
  }

  public boolean isFull() {
    return bytes >= FULL || count >= MOST_TASKS;
  }

  /// Adds a task at the end; positions between, which were given and never used, stay empty.
  ///
  /// @param second from which on it may be handed out; 0: at once
  public void append(byte[] record, long position, long taskId, int second) {
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
  public ByteBuffer indexCopy() {
    ByteBuffer copy = ByteBuffer.allocate(count * ENTRY);
    ByteBuffer now = index;
    if (now != null) {
      copy.put(0, now, 0, count * ENTRY);
    }
    return copy;
  }

  /// Bytes of the data that no file has; ready to be read.
  public ByteBuffer unwrittenCopy() {
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

  /// Takes the memory of a segment that is done. A large one is left to the collector, one that is being written to its writer.
  protected final void reuseMemory(TaskSegment done) {
    if (!done.beingWritten && done.memoryBytes() <= 1 << 20) {
      data = done.data;
      index = done.index;
    }
  }

  public ByteBuffer index(SegmentFiles files) {
    ByteBuffer now = index;
    return now == null ? files.index(this) : now;
  }

  public ByteBuffer data(SegmentFiles files) {
    ByteBuffer now = data;
    return now == null ? files.data(this) : now;
  }
}
