package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// A log in memory whose disk can be slow or full.
public final class TestLog implements DurableLog {
  public final List<Integer> flushes = new ArrayList<>();
  public final List<Integer> written = new ArrayList<>();
  public volatile @Nullable CountDownLatch gate;
  public volatile boolean full;

  /// Nothing more is promised room.
  volatile boolean noRoom;

  /// Set before a store is opened with it. They are not told of what is durable.
  @Nullable QueueSystem queues;

  private long reserved; // guarded by this

  /// The gate for what is written after the disk was full.
  public volatile @Nullable CountDownLatch gateOfRetry;

  public final CountDownLatch entered = new CountDownLatch(1);

  @Override
  public @Nullable QueueSystem queues() {
    return queues;
  }

  @Override
  public void write(List<LogRecord> records) {
    entered.countDown();
    CountDownLatch closed = gate;
    if (closed != null) {
      try {
        closed.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    if (full) {
      gate = gateOfRetry;
      throw new EngineException(ErrorCode.DISK_FULL, "no space left");
    }
    synchronized (this) {
      flushes.add(records.size());
      records.forEach(record -> {
        written.add(record.length());
        reserved -= record.length();
      });
    }
  }

  @Override
  public synchronized void reserve(int length, int instead) {
    if (noRoom && length > instead) {
      throw new EngineException(ErrorCode.DISK_FULL, "no space left");
    }
    reserved += length - instead;
  }

  /// Bytes that are promised to records that were not written.
  synchronized long reserved() {
    return reserved;
  }

  @Override
  public void read(byte[] from, byte[] to, EntryVisitor visitor) {}

  @Override
  public Optional<byte[]> lastKey(byte[] from, byte[] to) {
    return Optional.empty();
  }

  @Override
  public void close() {}
}
