package dev.kakehashi.queue.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.queue.system.QueueLock;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes full segments, so that they leave memory. Thread-safe; called without the lock, which it takes before and after the writing.
public final class SegmentWriter {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentWriter.class);

  /// Held from a copy of an index until it is in its file. Else an older copy could be written over a newer one: links that were made
  /// between the two would be gone once the segment has left memory. Taken before the lock of the queue system, never in it.
  private final ReentrantLock copies = new ReentrantLock();

  private final QueueLock lock;
  private final SegmentFiles files;
  private final SegmentChores chores;

  public SegmentWriter(QueueLock lock, SegmentFiles files, SegmentChores chores) {
    this.lock = lock;
    this.files = files;
    this.chores = chores;
  }

  /// Runs work that copies segments and writes the copies; meanwhile no segment leaves memory.
  ///
  /// @throws EngineException of the work
  public void alone(Runnable work) {
    copies.lock();
    try {
      work.run();
    } finally {
      copies.unlock();
    }
  }

  /// Writes those; what cannot be written stays in memory, and is tried again when the queues are forced.
  public void write(List<TaskSegment> segments) {
    for (TaskSegment each : segments) {
      try {
        write(each);
      } catch (EngineException e) {
        LOG.warn("A full segment of queue {} stays in memory", each.queueId, e);
        return;
      }
    }
  }

  /// Writes a full segment, unless it is written or gone.
  ///
  /// @throws EngineException IO_ERROR, DISK_FULL
  public void write(TaskSegment segment) {
    alone(() -> copyAndWrite(segment));
  }

  private void copyAndWrite(TaskSegment segment) {
    ByteBuffer data;
    ByteBuffer index;
    lock.enter();
    try {
      if (segment.freed || !segment.inMemory() || segment.beingWritten) {
        return;
      }
      segment.beingWritten = true;
      data = segment.data(files).duplicate().limit(segment.bytes).position(0);
      index = segment.indexCopy();
    } finally {
      lock.exit(QueueLock.Then.ELSEWHERE);
    }
    boolean done = false;
    try {
      SegmentFiles.write(files.dataPath(segment), data, 0);
      SegmentFiles.write(files.indexPath(segment), index, 0);
      done = true;
    } finally {
      lock.enter();
      try {
        segment.beingWritten = false;
        if (done && !segment.freed) {
          segment.leaveMemory(files.index(segment));
          chores.changed(segment);
        }
      } finally {
        lock.exit(QueueLock.Then.ELSEWHERE);
      }
    }
  }
}
