package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.store.memory.HeapRoom;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The log of a standby: it gets the groups of the primary's, writes them to the same places, and lets its base image and its queues
/// follow. So its directory is always one that a start takes over after a crash.
///
/// One thread receives. Another one reads what is durable, and applies it to what is in memory: however long that takes, the log goes on.
/// The log keeps what that thread lacks. Any thread may ask for the state.
public final class StandbyLog {
  private static final int COPY_BYTES = 1 << 20;

  private final SegmentedLog log;
  private final LogReader reader;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile long primaryEnd;
  private volatile long applied;
  private volatile long appliedMicros;
  private volatile boolean waitsForReaders;
  private final LongAdder groups = new LongAdder();

  /// State of a standby.
  ///
  /// @param position up to which it has the log, durably
  /// @param applied position up to which its readers see it
  /// @param lagBytes that its readers lacked when the primary has answered last
  /// @param appliedMicros time of the last group that they see, since 1970; 0: none since the start
  /// @param groups that it has got since the start
  public record State(
      LogPosition position, LogPosition applied, long lagBytes, long appliedMicros, long groups) {}

  /// @param log that has just been opened: all of it is in memory, or about to be
  public StandbyLog(SegmentedLog log) {
    this.log = log;
    this.reader = log.reader();
    this.primaryEnd = log.end();
    this.applied = log.end();
    log.follow();
    log.keepFrom(applied);
  }

  /// Identifier of the log, which the primary compares with its own.
  public long logId() {
    return log.logId();
  }

  /// Up to where it has the log, durably.
  public LogPosition position() {
    return log.position(log.end());
  }

  /// Its last frame before its position; null: there is none. Called by the thread that receives.
  public @Nullable LogFrame last() {
    return log.last();
  }

  public State state() {
    long seen = applied;
    return new State(
        position(),
        log.position(seen),
        Math.max(0, primaryEnd - seen),
        appliedMicros,
        groups.sum());
  }

  /// Takes an answer of the primary; what has come whole before a failure stays.
  ///
  /// @return whether it had groups
  /// @throws IOException if the answer is cut off, or damaged on its way
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  public boolean receive(InputStream answer) throws IOException {
    DataInputStream in = new DataInputStream(answer);
    if (in.readLong() != LogAnswers.MAGIC) {
      throw new IOException("the primary's answer is none of a log, or of another version");
    }
    primaryEnd = in.readLong();
    boolean afterApplied = in.readBoolean();
    boolean hasGroups = false;
    while (true) {
      byte kind = in.readByte();
      switch (kind) {
        case LogAnswers.SIDE_FILE -> sideFile(in);
        case LogAnswers.GROUP -> {
          group(in);
          hasGroups = true;
        }
        case LogAnswers.END -> {
          waitsForReaders = afterApplied;
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
    log.receive(LogRecord.of(payload, length, changes), end);
    groups.increment();
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
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
        file.write(ByteBuffer.wrap(buffer, 0, count), at);
        at += count;
        left -= count;
      }
      file.force();
    }
  }

  /// Whether commits of the primary wait until readers here see them.
  public boolean waitsForReaders() {
    return waitsForReaders;
  }

  // ---- what is applied ----

  /// A group that is durable here.
  public final class Group {
    private final LogRecord record;
    private final long end;

    private Group(LogRecord record, long end) {
      this.record = record;
      this.end = end;
    }

    /// Visits its changes without those that are in files beside the log, which are of rows alone.
    public void forEach(LogRecord.Changes changes) {
      record.forEach(changes);
    }

    /// Visits all of its changes, in their order. Changes of queues are among them, and the group's time.
    ///
    /// @throws dev.kakehashi.engine.api.error.EngineException IO_ERROR, DATA_CORRUPTED
    public void forEachWithFiles(LogRecord.Changes changes) {
      record.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {
              if (SideFile.isName(key, 0, key.length)) {
                log.readSideFile(SideFile.of(value, 0, value.length), end, changes);
              } else {
                changes.put(key, value);
              }
            }

            @Override
            public void delete(byte[] key) {
              changes.delete(key);
            }

            @Override
            public void deleteRange(byte[] from, byte[] to) {
              changes.deleteRange(from, to);
            }
          });
    }
  }

  /// The group that readers lack next, when there is one. Called by the thread that applies.
  ///
  /// @return null: there is none within the time
  /// @throws dev.kakehashi.engine.api.error.EngineException IO_ERROR, DATA_CORRUPTED
  public @Nullable Group next(long waitNanos) throws InterruptedException {
    long end = log.end();
    if (applied >= end) {
      lock.lock();
      try {
        long left = waitNanos;
        while (applied >= log.end() && left > 0) {
          left = changed.awaitNanos(left);
        }
      } finally {
        lock.unlock();
      }
      end = log.end();
      if (applied >= end) {
        return null;
      }
    }
    try {
      LogReader.Read read = reader.next(applied, end);
      return new Group(read.group(), read.end());
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read the standby's log", e);
    }
  }

  /// Readers see a group, and all before it. Called by the thread that applies.
  public void applied(Group group) {
    applied = group.end;
    appliedMicros = GroupTime.of(group.record);
    log.keepFrom(group.end);
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until readers see all that is durable here.
  ///
  /// @return false: the time is over
  public boolean awaitApplied(long waitNanos) throws InterruptedException {
    long left = Math.max(waitNanos, TimeUnit.MILLISECONDS.toNanos(1));
    lock.lock();
    try {
      while (applied < log.end() && left > 0) {
        left = changed.awaitNanos(left);
      }
      return applied >= log.end();
    } finally {
      lock.unlock();
    }
  }
}
