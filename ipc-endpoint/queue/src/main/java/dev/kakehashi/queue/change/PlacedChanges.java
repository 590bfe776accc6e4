package dev.kakehashi.queue.change;

import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Changes that have their places in the log and are not applied, in the order of their records.
///
/// One is added under the lock that orders commits, in [WrittenChanges#place]. It is removed under the lock of the queue system, when it is
/// durable. So the head is the oldest one, and a reader without either lock sees a head that was there, or is.
public final class PlacedChanges {
  final QueueCenter center;

  /// Writes the queues' own.
  public final RecordWriter writer = new RecordWriter(this);

  private final Queue<TransactionChanges> placed = new ConcurrentLinkedQueue<>();

  /// Number of the last change that has its place; guarded by the lock that orders commits.
  private long lastPlaced;

  /// Record up to which a flush was asked for because of tasks in it; guarded by the lock of the queue system.
  private long hurried = -1;

  public PlacedChanges(QueueCenter center) {
    this.center = center;
  }

  /// Recovery has ended: numbers go on after the last one that is applied.
  public void start() {
    lastPlaced = center.log.lastApplied();
  }

  // ---- under the lock that orders commits ----

  /// Number for a change that gets its place now.
  long nextSequence() {
    return ++lastPlaced;
  }

  void add(TransactionChanges changes) {
    placed.add(changes);
  }

  // ---- when records are durable ----

  /// Whether there is anything to apply up to a record. Any thread, without a lock.
  public boolean hasUpTo(long record) {
    TransactionChanges first = placed.peek();
    return first != null && first.written.record() <= record;
  }

  /// Applies what is durable. Guarded by the lock of the queue system.
  public void applyUpTo(long record) {
    for (TransactionChanges first = placed.peek();
        first != null && first.written.record() <= record;
        first = placed.peek()) {
      placed.remove();
      WrittenChanges written = first.written;
      if (!written.isLost() && center.log.applyDurable(written.ops(), written.sequence())) {
        first.applied();
      }
    }
  }

  // ---- consumers that wait; guarded by the lock of the queue system ----

  /// The last record of a transaction that may make tasks of a queue ready, and is not durable; -1: there is none.
  public long lastUndurable(QueueCore queue) {
    long last = -1;
    for (TransactionChanges each : placed) {
      if (!each.written.isLost() && each.written.readies(queue)) {
        last = each.written.record();
      }
    }
    return last;
  }

  /// A consumer waits: tasks whose commit waits for others to be flushed with are flushed soon. A record without changes, for which
  /// somebody waits, does that.
  public void hurry(QueueCore queue) {
    long last = lastUndurable(queue);
    if (last > hurried) {
      hurried = last;
      writer.add(List.of(), _ -> {});
    }
  }
}
