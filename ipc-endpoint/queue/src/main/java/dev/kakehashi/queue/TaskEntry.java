package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.queue.UniqueTaskKeys.TaskEnd;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A task of a group that is not as it was enqueued: lent, given back, waiting for its time, held by a transaction, dead. Guarded by the
/// lock of the queue system.
///
/// Its deadline: the lease's end, or when it may be handed out again.
final class TaskEntry extends Deadline {
  /// Current phase of a task.
  enum Phase {
    /// It could be handed out.
    READY,
    /// Its time has not come.
    DELAYED,
    /// A consumer has it.
    LEASED,
    /// A transaction is about to end it, or a record that does so is being written.
    HELD,
    /// It failed too often, and stays.
    DEAD,
    /// It is over, but its chain has not passed it yet.
    GONE
  }

  /// Error of an attempt whose lease ended without a word of its holder.
  static final String LEASE_ENDED =
      "the lease ended, and its consumer did not say how the attempt ended";

  final GroupCore group;
  final long position;
  Phase phase = Phase.READY;

  /// Before it was held.
  Phase before = Phase.READY;

  /// Whether its chain has not passed it.
  boolean inChain;

  /// Whether [DelayedTasks] has made it, and nobody has taken it.
  boolean loaded;

  int attempts;

  /// Attempts that the log has.
  int loggedAttempts;

  /// Not handed out before, milliseconds since 1970.
  long runAtMillis;

  @Nullable String lastError;

  /// While the log is replayed: whether it was lent last, and nothing says how that ended.
  boolean lent;

  /// Whether the fields from here to `chain` were read from the record.
  boolean known;

  int priority;
  @Nullable String fair;
  long enqueuedMillis;
  boolean unique;
  @Nullable KeyChain chain;

  /// Whether its deadline is one of the wall clock.
  boolean byWall;

  int nonce;
  long leaseNanos;
  long leasedNanos;
  long leaseEndMillis;
  @Nullable LeaseHolder holder;

  /// Transaction that ends it now; null: none.
  @Nullable Object heldBy;

  /// Transactions that end it if they commit; only of a task that has a unique key.
  List<TaskEnd> ends = List.of();

  /// Whether the claim is not durable.
  boolean claimPending;

  TaskEntry(GroupCore group, long position) {
    this.group = group;
    this.position = position;
  }

  LeaseToken token() {
    return new LeaseToken(
        group.center.incarnation, group.queue.queueId, group.groupId, position, attempts, nonce);
  }

  boolean isLeasedBy(LeaseToken token) {
    return phase == Phase.LEASED
        && !claimPending
        && attempts == token.attempt()
        && nonce == token.nonce()
        && token.incarnation() == group.center.incarnation;
  }

  void addEnd(TaskEnd end) {
    if (ends.isEmpty()) {
      ends = new ArrayList<>(1);
    }
    ends.add(end);
  }

  void removeEnd(TaskEnd end) {
    if (!ends.isEmpty()) {
      ends.remove(end);
    }
  }

  @Override
  void reached() {
    group.reached(this);
  }
}
