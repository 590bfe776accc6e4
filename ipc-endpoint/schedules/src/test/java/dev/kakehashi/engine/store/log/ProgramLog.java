package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.schedules.Points;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A log in memory. It fails if two threads write it at once.
public final class ProgramLog implements DurableLog {
  private final List<Integer> lengths = new ArrayList<>(); // guarded by this
  private final AtomicBoolean writing = new AtomicBoolean();
  private final @Nullable QueueSystem queues;

  /// @param queues to be told of what is durable; null: there are none
  public ProgramLog(@Nullable QueueSystem queues) {
    this.queues = queues;
  }

  @Override
  public @Nullable QueueSystem queues() {
    return queues;
  }

  @Override
  public void write(List<LogRecord> records) {
    if (!writing.compareAndSet(false, true)) {
      throw new AssertionError("two threads write the log");
    }
    Points.pause(); // the disk takes its time
    long placed = 0;
    synchronized (this) {
      for (LogRecord record : records) {
        lengths.add(record.length());
        placed = Math.max(placed, record.queueNumber());
      }
    }
    writing.set(false);
    if (queues != null && placed > 0) {
      queues.durable(placed);
    }
  }

  /// Lengths of the records that are durable, in their order.
  public synchronized List<Integer> lengths() {
    return List.copyOf(lengths);
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
