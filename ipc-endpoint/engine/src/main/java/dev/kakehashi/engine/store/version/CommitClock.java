package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.engine.store.row.Stamp;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The timestamps that commits have reached. Thread-safe.
public final class CommitClock {
  /// Timestamp of the last commit that snapshots see. Written under the lock that orders commits, after the commit timestamp of the
  /// transaction's slot (both volatile), see [dev.kakehashi.engine.store.transaction.Committer].
  private volatile long published = Stamp.FIRST_TIMESTAMP;

  /// Only grows: by changes of the catalogue and by whoever frees for memory; read by each commit.
  private final AtomicLong common = new AtomicLong(Stamp.FIRST_TIMESTAMP);

  /// For readers in other processes; null: there are none.
  private final @Nullable StoreHead head;

  public CommitClock(@Nullable StoreHead head) {
    this.head = head;
  }

  public long published() {
    return published;
  }

  /// Everybody sees the commits up to a timestamp. The caller has the lock that orders commits.
  public void publish(long timestamp) {
    published = timestamp;
  }

  /// Timestamp of the last commit that every transaction depends on, whatever it reads.
  public long common() {
    return common.get();
  }

  /// Versions, and entries of indexes, go that a state as of an earlier timestamp may have. Called before they go.
  public void collects(long timestamp) {
    if (head != null) {
      head.collects(timestamp);
    }
  }

  /// From now on every transaction depends on the commits up to a timestamp. Called before anybody can see what they have changed in the
  /// catalogue, or not see any more what they have deleted.
  public void concernsAll(long timestamp) {
    common.accumulateAndGet(timestamp, Math::max);
    if (head != null) {
      head.concernsAll(timestamp);
    }
  }
}
