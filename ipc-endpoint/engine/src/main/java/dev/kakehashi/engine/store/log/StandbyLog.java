package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.engine.store.memory.HeapRoom;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The log of a standby: it gets the groups of the primary's, writes them to the same places, and lets its base image and its queues
/// follow. So its directory is always one that a start takes over after a crash. Groups that come together are forced together.
///
/// One thread receives. Another one reads what is durable, and applies it to what is in memory: however long that takes, the log goes on.
/// The log keeps what that thread lacks. Any thread may ask for the state.
public final class StandbyLog {
  private static final int COPY_BYTES = 1 << 20;
  private static final int BUFFER_BYTES = 64 << 10;

  /// How long readers may lack what commits of the primary wait for, until it is told how far they are.
  private static final long READERS_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(StandbyLog.class);

  private final SegmentedLog log;
  private final ReceivedGroups received;
  private final LogReader reader;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile long primaryEnd;
  private volatile long applied;
  private volatile long appliedMicros;

  /// Whether commits of the primary wait until readers here see them. Used by the thread that receives.
  private boolean waitsForReaders;

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
    this.received = log.follow();
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

  /// Takes what the primary sends, and tells it after each batch what is durable, until the stream ends. Groups that have
  /// come whole stay.
  ///
  /// @param from the primary
  /// @param to the primary
  /// @throws IOException the stream has ended, or was damaged on its way
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  public void follow(InputStream from, OutputStream to) throws IOException, InterruptedException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(from, BUFFER_BYTES));
    try {
      if (in.readLong() != LogBatches.MAGIC) {
        throw new IOException("what the primary sends is no log, or that of another version");
      }
      while (true) {
        boolean hasGroups = batch(in);
        force();
        if (hasGroups && waitsForReaders && !awaitApplied(READERS_NANOS)) {
          LOG.debug("readers are behind: the primary is told so");
        }
        acknowledge(to);
      }
    } catch (EOFException e) {
      throw new IOException("the primary has ended the stream of its log", e);
    } finally {
      force();
    }
  }

  /// Takes a batch, whose groups are not forced yet.
  ///
  /// @return whether it had groups
  private boolean batch(DataInputStream in) throws IOException {
    boolean hasGroups = false;
    while (true) {
      byte kind = in.readByte();
      switch (kind) {
        case LogBatches.SIDE_FILE -> sideFile(in);
        case LogBatches.GROUP -> {
          group(in);
          hasGroups = true;
        }
        case LogBatches.END -> {
          primaryEnd = in.readLong();
          waitsForReaders = in.readBoolean();
          return hasGroups;
        }
        default -> throw new IOException("what the primary sends is damaged");
      }
    }
  }

  private void group(DataInputStream in) throws IOException {
    long end = in.readLong();
    int changes = in.readInt();
    int length = in.readInt();
    if (length <= 0 || length > LogRecord.MAX_BYTES) {
      throw new IOException("what the primary sends is damaged");
    }
    byte[] payload = HeapRoom.allocate(length);
    in.readFully(payload, 0, length);
    CRC32C crc = new CRC32C();
    crc.update(payload, 0, length);
    if ((int) crc.getValue() != in.readInt()) {
      throw new IOException("a group of the primary's log was damaged on its way");
    }
    received.add(LogRecord.of(payload, length, changes), end);
    groups.increment();
  }

  private void force() {
    long before = log.end();
    received.force();
    if (log.end() != before) {
      lock.lock();
      try {
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void acknowledge(OutputStream to) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LogBatches.ACKNOWLEDGEMENT_BYTES);
    bytes.put(LogBatches.ACKNOWLEDGED).putLong(log.end()).putLong(applied);
    to.write(bytes.array());
    to.flush();
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
          throw new EOFException();
        }
        file.write(ByteBuffer.wrap(buffer, 0, count), at);
        at += count;
        left -= count;
      }
      file.force();
    }
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
  private boolean awaitApplied(long waitNanos) throws InterruptedException {
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
