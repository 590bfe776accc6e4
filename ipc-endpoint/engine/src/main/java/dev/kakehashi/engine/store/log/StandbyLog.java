package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The log of a standby: it gets the groups of the primary's, writes them to the same places, and lets its base image and its queues
/// follow. So its directory is always one that a start takes over after a crash.
///
/// Receiving is done by one thread; any may ask for its state.
public final class StandbyLog implements AutoCloseable {
  private static final int COPY_BYTES = 1 << 20;

  private final SegmentedLog log;
  private volatile long primaryEnd;
  private volatile long lastMicros;
  private final LongAdder groups = new LongAdder();

  /// State of a standby.
  ///
  /// @param position up to which it has the log, durably
  /// @param lagBytes that it lacked when the primary has answered last
  /// @param lastMicros time of the last group that it has got, since 1970; 0: none since the start
  /// @param groups that it has got since the start
  public record State(LogPosition position, long lagBytes, long lastMicros, long groups) {}

  private StandbyLog(SegmentedLog log) {
    this.log = log;
    this.primaryEnd = log.end();
  }

  /// Opens what a backup, or an earlier run, has left.
  ///
  /// @param queues null: there are none
  public static StandbyLog open(
      Path logDirectory, Path imageDirectory, @Nullable LogQueues queues) {
    return new StandbyLog(SegmentedLog.open(logDirectory, imageDirectory, queues));
  }

  /// Identifier of the log, which the primary compares with its own.
  public long logId() {
    return log.logId();
  }

  /// Up to where it has the log, durably.
  public LogPosition position() {
    return log.status().position();
  }

  public State state() {
    return new State(position(), Math.max(0, primaryEnd - log.end()), lastMicros, groups.sum());
  }

  /// Takes an answer of the primary; what has come whole before a failure stays.
  ///
  /// @return whether it had groups
  /// @throws IOException if the answer is cut off, or damaged on its way
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  public boolean receive(InputStream answer) throws IOException {
    DataInputStream in = new DataInputStream(answer);
    if (in.readLong() != LogFeeds.MAGIC) {
      throw new IOException("the primary's answer is none of a log, or of another version");
    }
    primaryEnd = in.readLong();
    boolean hasGroups = false;
    while (true) {
      byte kind = in.readByte();
      switch (kind) {
        case LogFeeds.SIDE_FILE -> sideFile(in);
        case LogFeeds.GROUP -> {
          group(in);
          hasGroups = true;
        }
        case LogFeeds.END -> {
          return hasGroups;
        }
        default -> throw new IOException("the primary's answer is damaged");
      }
    }
  }

  private void group(DataInputStream in) throws IOException {
    long end = in.readLong();
    int changes = in.readInt();
    int length = in.readInt();
    if (length <= 0 || length > LogRecord.MAX_BYTES) {
      throw new IOException("the primary's answer is damaged");
    }
    byte[] payload = HeapRoom.allocate(length);
    in.readFully(payload, 0, length);
    CRC32C crc = new CRC32C();
    crc.update(payload, 0, length);
    if ((int) crc.getValue() != in.readInt()) {
      throw new IOException("a group of the primary's log was damaged on its way");
    }
    LogRecord group = LogRecord.of(payload, length, changes);
    log.receive(group, end);
    lastMicros = GroupTime.of(group);
    groups.increment();
  }

  private void sideFile(DataInputStream in) throws IOException {
    long number = in.readLong();
    long left = in.readLong();
    byte[] buffer = new byte[COPY_BYTES];
    try (LogFile file = log.newSideFile(number)) {
      long at = 0;
      while (left > 0) {
        int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (count < 0) {
          throw new IOException("the primary's answer is cut off");
        }
        file.write(java.nio.ByteBuffer.wrap(buffer, 0, count), at);
        at += count;
        left -= count;
      }
      file.force();
    }
  }

  @Override
  public void close() {
    log.close();
  }
}
