package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.log.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Appends groups at the end of the log. Used by one thread at a time.
///
/// A small group costs one pwrite and one fdatasync. After a failure the end is where it was, and the next try writes all of the group's
/// bytes again: what the kernel has dropped after an error of the disk is not relied upon. Groups that are only written are forced
/// before the next segment is written to, or by [#force].
final class LogWriter {
  private static final Logger LOG = LoggerFactory.getLogger(LogWriter.class);
  private static final int BUFFER_BYTES = 256 << 10;

  private final LogFormat format;
  private final LogSegments segments;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private @Nullable LogFile file;
  private long fileSegment = -1;
  private boolean unforced;
  private long end;

  // Where the next bytes of the group are: in this record, from this offset.
  private int record;
  private int recordOffset;

  /// @param end where the next group begins
  LogWriter(LogFormat format, LogSegments segments, long end) {
    this.format = format;
    this.segments = segments;
    this.end = end;
  }

  /// Where the next group begins.
  long end() {
    return end;
  }

  /// Appends records that are not empty as one group; on return they survive power loss.
  void append(List<LogRecord> records) throws IOException {
    long before = end;
    boolean done = false;
    try {
      write(records);
      force();
      done = true;
    } finally {
      if (!done) {
        backTo(before);
      }
    }
  }

  /// Writes records as one group, which survives power loss after [#force]. After a failure, also of that, the caller goes [#backTo] where
  /// the log was forced.
  void write(List<LogRecord> records) throws IOException {
    long left = 0;
    int changes = 0;
    for (LogRecord each : records) {
      left += each.length();
      changes += each.count();
    }
    record = 0;
    recordOffset = 0;
    int previousCrc = 0;
    long groupStart = format.frameStart(end);
    long at = groupStart;
    while (true) {
      int bytes = (int) Math.min(left, format.room(at));
      left -= bytes;
      long behind = format.frameStart(at + LogFormat.aligned(LogFormat.FRAME_HEADER_BYTES + bytes));
      if (format.segment(behind) != format.segment(at)) {
        // Before this one is full: who reads the log expects it then.
        segments.require(format.segment(behind));
      }
      LogFile target = segment(format.segment(at));
      buffer.clear();
      buffer.putInt(0).putInt(bytes).putLong(at).putLong(groupStart).putInt(changes);
      buffer.putInt(left == 0 ? LogFormat.LAST : 0);
      previousCrc = checksum(records, bytes, previousCrc);
      buffer.putInt(0, previousCrc);
      writePayload(records, bytes, target, format.offset(at));
      at += LogFormat.aligned(LogFormat.FRAME_HEADER_BYTES + bytes);
      if (left == 0) {
        break;
      }
      at = format.frameStart(at);
    }
    end = at;
  }

  /// The next group begins at a position up to which the log is forced, and all behind it is written again.
  void backTo(long position) {
    end = position;
    LogFile current = file;
    forgetFile();
    if (current != null) {
      try {
        current.close();
      } catch (IOException e) {
        // Nothing of it is relied upon.
        LOG.debug("a segment of the log could not be closed", e);
      }
    }
  }

  /// Checksum of the frame whose header is in the buffer and whose payload are the next bytes of the records.
  private int checksum(List<LogRecord> records, int bytes, int previousCrc) {
    CRC32C crc = format.begin(previousCrc);
    crc.update(buffer.duplicate().flip().position(Integer.BYTES));
    int left = bytes;
    int offset = recordOffset;
    for (int i = record; left > 0; i++) {
      LogRecord from = records.get(i);
      int count = Math.min(left, from.length() - offset);
      crc.update(from.bytes(), offset, count);
      left -= count;
      offset = 0;
    }
    return (int) crc.getValue();
  }

  private void writePayload(List<LogRecord> records, int bytes, LogFile target, int offset)
      throws IOException {
    int left = bytes;
    int at = offset;
    while (left > 0) {
      LogRecord from = records.get(record);
      int count = Math.min(Math.min(left, from.length() - recordOffset), buffer.remaining());
      buffer.put(from.bytes(), recordOffset, count);
      left -= count;
      recordOffset += count;
      if (recordOffset == from.length()) {
        record++;
        recordOffset = 0;
      }
      if (!buffer.hasRemaining()) {
        at += drain(target, at);
      }
    }
    while (buffer.position() % LogFormat.ALIGNMENT != 0) {
      buffer.put((byte) 0);
    }
    drain(target, at);
  }

  private int drain(LogFile target, int offset) throws IOException {
    buffer.flip();
    int bytes = buffer.remaining();
    if (bytes > 0) {
      unforced = true;
      target.write(buffer, offset);
    }
    buffer.clear();
    return bytes;
  }

  private LogFile segment(long number) throws IOException {
    LogFile current = file;
    if (current != null && fileSegment == number) {
      return current;
    }
    if (unforced) {
      force();
    }
    close();
    LogFile opened = segments.open(number);
    file = opened;
    fileSegment = number;
    return opened;
  }

  /// Groups that have been written survive power loss on return.
  void force() throws IOException {
    LogFile current = file;
    if (current != null) {
      current.force();
    }
    unforced = false;
  }

  private void forgetFile() {
    file = null;
    fileSegment = -1;
    unforced = false;
  }

  void close() throws IOException {
    LogFile current = file;
    forgetFile();
    if (current != null) {
      current.close();
    }
  }
}
