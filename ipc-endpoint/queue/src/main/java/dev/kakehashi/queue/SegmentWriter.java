package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import java.nio.ByteBuffer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes full segments, so that they leave memory. Thread-safe.
final class SegmentWriter {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentWriter.class);

  private SegmentWriter() {}

  /// Writes those; what cannot be written stays in memory, and is tried again with the next [DurableQueues#force()].
  static void write(QueueCenter center, List<TaskSegment> segments) {
    for (TaskSegment each : segments) {
      try {
        write(center, each);
      } catch (EngineException e) {
        LOG.warn("A full segment of queue {} stays in memory", each.queue.queueId, e);
        return;
      }
    }
  }

  /// Writes a full segment, unless it is written or gone.
  static void write(QueueCenter center, TaskSegment segment) {
    ByteBuffer data;
    ByteBuffer index;
    center.enter();
    try {
      if (segment.freed || !segment.inMemory() || segment.beingWritten) {
        return;
      }
      segment.beingWritten = true;
      data = segment.data(center.files).duplicate().limit(segment.bytes).position(0);
      index = segment.indexCopy();
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
    boolean done = false;
    try {
      SegmentFiles.write(center.files.dataPath(segment), data, 0);
      SegmentFiles.write(center.files.indexPath(segment), index, 0);
      done = true;
    } finally {
      center.enter();
      try {
        segment.beingWritten = false;
        if (done && !segment.freed) {
          segment.leaveMemory(center.files.index(segment));
          center.changed(segment);
        }
      } finally {
        center.exit(QueueCenter.Then.ELSEWHERE);
      }
    }
  }
}
