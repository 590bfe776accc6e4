package dev.kakehashi.rest.job;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A job while this process knows it. Fields belong to the lock of [JobTable] unless they say otherwise.
final class LiveJob implements Comparable<LiveJob> {
  /// As it is shown. Written under the lock, read by all.
  private volatile JobRecord record;

  /// As the journal has it: the end is there before it is shown.
  JobRecord kept;

  final AtomicLong bytes = new AtomicLong();

  /// Rows that were read so far. Written by the work, asked by all.
  volatile LongSupplier rowsScanned = () -> 0;

  volatile long rows;
  volatile boolean isCancelAsked;

  /// Null: it is not to run any more.
  @Nullable JobWork work;

  /// Waiters for its end; null: none.
  @Nullable List<Waiters.Waiter> waiters;

  /// Memory of its work, as counted.
  long heldBytes;

  /// Position of the journal at which it is durable.
  long enteredAt;

  /// Downloads that run. Its files stay until there are none.
  int holds;

  LiveJob(JobRecord record) {
    this.record = record;
    this.kept = record;
    showProgressOf(record);
  }

  private void showProgressOf(JobRecord of) {
    bytes.set(of.bytes());
    long scanned = of.rowsScanned();
    rowsScanned = () -> scanned;
    rows = of.rows();
  }

  JobRecord record() {
    return record;
  }

  /// As it is shown, with its progress.
  JobRecord snapshot() {
    JobRecord now = record;
    return now.state() == JobState.RUNNING
        ? now.progress(rowsScanned.getAsLong(), rows, bytes.get())
        : now;
  }

  void show(JobRecord next) {
    record = next;
    if (next.state().isEnded()) {
      // Nothing of the work is held any longer.
      showProgressOf(next);
    }
  }

  /// Begins anew.
  void reset(JobRecord next) {
    record = next;
    kept = next;
    isCancelAsked = false;
    showProgressOf(next);
  }

  /// Newest first.
  @Override
  public int compareTo(LiveJob other) {
    int byTime = Long.compare(other.record.createdMillis(), record.createdMillis());
    return byTime != 0 ? byTime : record.token().compareTo(other.record.token());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
