package dev.kakehashi.engine.store.log;

import java.io.IOException;

/// Room in the log that is promised to records: what is let into the order of commits, and so becomes visible, finds blocks on the disk
/// when its turn to be written comes.
///
/// Blocks are there for the rest of the segment that is written and for the segments after it; what they do not suffice for is made before
/// the promise. So a full disk refuses a commit before anybody has seen it. Only what no block helps against, as a disk that fails, can
/// still meet a commit that others see.
///
/// Thread-safe by one lock. Mostly a promise is a comparison; where a segment has to be made for it, who writes waits as well.
final class LogRoom {
  /// Bytes that the frames of a record and the group's time take besides it when it is written alone, but for frames at the ends of
  /// segments.
  private static final int RECORD_BYTES =
      LogFormat.FRAME_HEADER_BYTES + LogFormat.ALIGNMENT + GroupTime.BYTES;

  /// Bytes that may be lost at the end of a segment and for the header of a frame that goes on in it. So the last segment is never filled,
  /// which would ask for another one.
  private static final int SEGMENT_LOSS_BYTES =
      3 * LogFormat.FRAME_HEADER_BYTES + 4 * LogFormat.ALIGNMENT;

  private final LogFormat format;
  private final LogSegments segments;

  // Guarded by this.
  private long end;
  private long promised;

  /// @param end of the log
  LogRoom(LogFormat format, LogSegments segments, long end) {
    this.format = format;
    this.segments = segments;
    this.end = end;
  }

  /// Bytes of the log that a record may take.
  static long cost(int length) {
    return length == 0 ? 0 : (long) length + RECORD_BYTES;
  }

  /// Promises room; on failure nothing has changed.
  ///
  /// @param length of a record
  /// @param instead length of a record that was promised room and does not need it any more; 0: none
  /// @throws IOException if the disk has no room
  synchronized void reserve(int length, int instead) throws IOException {
    long more = cost(length) - cost(instead);
    while (more > 0 && available() - promised < more) {
      segments.require(Math.max(segments.last() + 1, format.segment(format.frameStart(end))));
    }
    promised += more;
  }

  /// Bytes promised to records that are not written.
  synchronized long promised() {
    return promised;
  }

  /// The log has grown.
  ///
  /// @param bytes that were promised to what was written
  synchronized void written(long newEnd, long bytes) {
    end = newEnd;
    promised = Math.max(0, promised - bytes);
  }

  /// Bytes for records behind the end of the log whose blocks are there.
  private long available() {
    long next = format.frameStart(end);
    long current = (long) format.segmentBytes() - format.offset(next) - SEGMENT_LOSS_BYTES;
    long further = segments.last() - format.segment(next);
    return current
        + further * (format.segmentBytes() - LogFormat.HEADER_BYTES - SEGMENT_LOSS_BYTES);
  }
}
