package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writes the queues' own changes (claims, tasks that are dead, schedules) as records. Guarded by the lock of the queue system.
///
/// One record is under way at a time; what comes meanwhile goes into the next one together. So eight consumers that take a task each make one record, and claims are in the log in the
/// order in which they were made.
final class RecordWriter {
  private final QueueCenter center;
  private List<QueueOp> ops = new ArrayList<>();
  private List<Consumer<@Nullable EngineException>> listeners = new ArrayList<>();
  private boolean writing;

  RecordWriter(QueueCenter center) {
    this.center = center;
  }

  /// @param done called in the critical section, when the changes are durable, or have failed
  void add(List<? extends QueueOp> more, Consumer<@Nullable EngineException> done) {
    ops.addAll(more);
    listeners.add(done);
  }

  /// What is to be run without the lock; null: nothing.
  @Nullable Runnable next() {
    if (writing || listeners.isEmpty()) {
      return null;
    }
    writing = true;
    TransactionChanges changes = new TransactionChanges(center, ops);
    List<Consumer<@Nullable EngineException>> told = listeners;
    ops = new ArrayList<>();
    listeners = new ArrayList<>();
    return () -> write(changes, told);
  }

  private void write(TransactionChanges changes, List<Consumer<@Nullable EngineException>> told) {
    try {
      center.host().write(changes, failure -> written(told, failure));
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
    center.enter();
    try {
      writing = false;
      for (Consumer<@Nullable EngineException> each : told) {
        each.accept(reason);
      }
    } finally {
      center.exit();
    }
  }
}
