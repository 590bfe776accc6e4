package dev.kakehashi.scheduler;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/// Lanes by key. A lane stays while anyone refers to it: its users, or its own queued tasks; then its entry goes with the
/// next look-up. Thread-safe.
final class LaneTable {
  private final TaskScheduler scheduler;
  private final ConcurrentHashMap<Object, LaneReference> lanes = new ConcurrentHashMap<>();
  private final ReferenceQueue<Lane> deadLanes = new ReferenceQueue<>();

  LaneTable(TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  Lane lane(Object key, int permits, Affinity affinity) {
    Objects.requireNonNull(key, "key");
    for (Object dead = deadLanes.poll(); dead != null; dead = deadLanes.poll()) {
      LaneReference reference = (LaneReference) dead;
      lanes.remove(reference.key, reference);
    }
    for (; ; ) {
      LaneReference reference = lanes.get(key);
      Lane lane = reference == null ? null : reference.get();
      if (lane == null) {
        lane = scheduler.newLane(permits, affinity);
        LaneReference added = new LaneReference(key, lane, deadLanes);
        boolean mine =
            reference == null
                ? lanes.putIfAbsent(key, added) == null
                : lanes.replace(key, reference, added);
        if (!mine) {
          continue;
        }
      }
      if (lane.permits() != permits) {
        throw new IllegalArgumentException(
            "lane \"" + key + "\" has " + lane.permits() + " permits, not " + permits);
      }
      if (lane.affinity() != affinity) {
        throw new IllegalArgumentException(
            "lane \"" + key + "\" has affinity " + lane.affinity() + ", not " + affinity);
      }
      return lane;
    }
  }

  private static final class LaneReference extends WeakReference<Lane> {
    final Object key;

    LaneReference(Object key, Lane lane, ReferenceQueue<Lane> queue) {
      super(lane, queue);
      this.key = key;
    }
  }
}
