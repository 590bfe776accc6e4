package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.queue.order.UniqueTaskKeys.TaskEnd;
import dev.kakehashi.queue.system.Deadline;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A task of a group that is not as it was enqueued: lent, given back, waiting for its time, held by a transaction, dead. Guarded by the
/// lock of the queue system.
///
/// Its deadline: the lease's end, or when it may be handed out again.
public final class TaskEntry extends Deadline {
  /// Current phase of a task.
  public enum Phase {
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
  public static final String LEASE_ENDED =
      "the lease ended, and its consumer did not say how the attempt ended";

  public final GroupCore group;
  public final long position;
  public Phase phase = Phase.READY;

  /// Before it was held.
  public Phase before = Phase.READY;

  /// Whether its chain has not passed it.
  public boolean inChain;

  /// Whether [DelayedTasks] has made it, and nobody has taken it.
  boolean loaded;

  public int attempts;

  /// Attempts that the log has.
  public int loggedAttempts;

  /// Not handed out before, milliseconds since 1970.
  public long runAtMillis;

  public @Nullable String lastError;

  /// While the log is replayed: whether it was lent last, and nothing says how that ended.
  public boolean lent;

  /// Whether the fields from here to `chain` were read from the record.
  public boolean known;

  public int priority;
  public @Nullable String fair;
  public long enqueuedMillis;
  public boolean unique;
  public @Nullable KeyChain chain;

  /// Whether its deadline is one of the wall clock.
  boolean byWall;

  public int nonce;
  public long leaseNanos;
  public long leasedNanos;
  public long leaseEndMillis;
  public @Nullable LeaseHolder holder;

  /// Transaction that ends it now; null: none.
  public @Nullable Object heldBy;

  /// Transactions that end it if they commit; only of a task that has a unique key.
  List<TaskEnd> ends = List.of();

  /// Whether the claim is not durable.
  public boolean claimPending;

  public TaskEntry(GroupCore group, long position) {
    this.group = group;
    this.position = position;
  }

  public LeaseToken token() {
    return new LeaseToken(
        group.center.numbers.incarnation(),
        group.queue.queueId,
        group.groupId,
        position,
        attempts,
        nonce);
  }

  boolean isLeasedBy(LeaseToken token) {
    return phase == Phase.LEASED
        && !claimPending
        && attempts == token.attempt()
        && nonce == token.nonce()
        && token.incarnation() == group.center.numbers.incarnation();
  }

  public void addEnd(TaskEnd end) {
    if (ends.isEmpty()) {
      ends = new ArrayList<>(1);
    }
    ends.add(end);
  }

  public void removeEnd(TaskEnd end) {
    if (!ends.isEmpty()) {
      ends.remove(end);
    }
  }

  @Override
  public void reached() {
    group.reached(this);
  }
}
