package dev.kakehashi.queue.change;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.record.QueueOp;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writes the queues' own changes (claims, tasks that are dead, schedules) as records. Guarded by the lock of the queue system.
///
/// One thread at a time gives records their places in the log, so claims are there in the order in which they were made. It does not wait
/// for the flush: calls of one turn are durable with one. Changes that come while a record gets its place go into the next record together.
public final class RecordWriter {
  private final PlacedChanges placed;
  private List<QueueOp> ops = new ArrayList<>();
  private List<Consumer<@Nullable EngineException>> listeners = new ArrayList<>();
  private boolean writing;

  RecordWriter(PlacedChanges placed) {
    this.placed = placed;
  }

  /// @param done called in the critical section, when the changes are durable, or have failed
  public void add(List<? extends QueueOp> more, Consumer<@Nullable EngineException> done) {
    ops.addAll(more);
    listeners.add(done);
  }

  /// Work to be run without the lock; null: nothing.
  public @Nullable Runnable next() {
    if (writing || listeners.isEmpty()) {
      return null;
    }
    writing = true;
    return this::writeAll;
  }

  private void writeAll() {
    for (Batch next = take(); next != null; next = take()) {
      write(next.changes, next.told);
    }
  }

  private record Batch(
      TransactionChanges changes, List<Consumer<@Nullable EngineException>> told) {}

  private @Nullable Batch take() {
    placed.center.lock.enter();
    try {
      if (listeners.isEmpty()) {
        writing = false;
        return null;
      }
      Batch batch = new Batch(TransactionChanges.own(placed, ops), listeners);
      ops = new ArrayList<>();
      listeners = new ArrayList<>();
      return batch;
    } finally {
      placed.center.lock.exit();
    }
  }

  private void write(TransactionChanges changes, List<Consumer<@Nullable EngineException>> told) {
    try {
      placed.center.run.host().write(changes, failure -> written(told, failure));
    } catch (RuntimeException e) {
      written(told, e);
    }
  }

  private void written(
      List<Consumer<@Nullable EngineException>> told, @Nullable Throwable failure) {
    EngineException reason =
        failure == null
            ? null
            : failure instanceof EngineException known
                ? known
                : new EngineException(
                    ErrorCode.INTERNAL_ERROR, "a record of queues failed: " + failure, failure);
    placed.center.lock.enter();
    try {
      for (Consumer<@Nullable EngineException> each : told) {
        each.accept(reason);
      }
    } finally {
      placed.center.lock.exit();
    }
  }
}
