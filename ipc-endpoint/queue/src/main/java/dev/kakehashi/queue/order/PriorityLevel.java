package dev.kakehashi.queue.order;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Fair lanes of one priority of a group: start-time fair queueing. Guarded by the lock of the queue system.
///
/// Each lane has a tag in virtual time that moves by 1/weight for a task that is handed out; the smallest goes first. With lanes of weights
/// w a lane of weight v waits for at most w/v + 1 tasks of each other one. A lane that ran dry keeps its tag until the level's virtual time
/// has passed it, so it gains nothing by that.
public final class PriorityLevel {
  final GroupCore group;
  public final int priority;

  /// The lane without a fair key; made when it is needed.
  private @Nullable FairLane plain;

  private final Map<String, FairLane> lanes = new HashMap<>(4);
  private @Nullable FairLane[] heap = new FairLane[2];
  private int size;
  private double now;

  PriorityLevel(GroupCore group, int priority) {
    this.group = group;
    this.priority = priority;
  }

  public FairLane lane(@Nullable String fair) {
    if (fair == null) {
      FairLane lane = plain;
      if (lane == null) {
        lane = new FairLane(this, null);
        plain = lane;
      }
      return lane;
    }
    FairLane lane = lanes.get(fair);
    if (lane == null) {
      lane = new FairLane(this, fair);
      lanes.put(fair, lane);
    }
    return lane;
  }

  /// @return null: there is none
  @Nullable FairLane existing(@Nullable String fair) {
    return fair == null ? plain : lanes.get(fair);
  }

  /// The lane has something.
  public void activate(FairLane lane) {
    if (lane.heapIndex >= 0) {
      return;
    }
    lane.tag = Math.max(lane.tag, now);
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    put(size, lane);
    up(size++);
  }

  /// The lane whose turn it is; null: all are empty.
  public @Nullable FairLane first() {
    while (size > 0) {
      FairLane lane = at(0);
      if (lane.peek() >= 0) {
        return lane;
      }
      now = Math.max(now, lane.tag);
      removeFirst();
      if (lane.isEmpty() && lane.fair != null) {
        lanes.remove(lane.fair);
      }
    }
    return null;
  }

  /// A task of the first lane was handed out.
  public void served(FairLane lane, double weight) {
    now = Math.max(now, lane.tag);
    lane.tag += 1 / weight;
    if (lane.heapIndex >= 0) {
      down(lane.heapIndex);
    }
  }

  /// All lanes, for the state that is written.
  public Iterable<FairLane> all() {
    FairLane lane = plain;
    if (lane == null) {
      return lanes.values();
    }
    java.util.List<FairLane> result = new java.util.ArrayList<>(lanes.values());
    result.add(lane);
    return result;
  }

  private FairLane at(int index) {
    return Objects.requireNonNull(heap[index]);
  }

  private void put(int index, FairLane lane) {
    heap[index] = lane;
    lane.heapIndex = index;
  }

  private void removeFirst() {
    FairLane first = at(0);
    first.heapIndex = -1;
    FairLane last = at(--size);
    heap[size] = null;
    if (size > 0) {
      put(0, last);
      down(0);
    }
  }

  private void up(int from) {
    int at = from;
    FairLane lane = at(at);
    while (at > 0 && at((at - 1) >>> 1).tag > lane.tag) {
      put(at, at((at - 1) >>> 1));
      at = (at - 1) >>> 1;
    }
    put(at, lane);
  }

  private void down(int from) {
    int at = from;
    FairLane lane = at(at);
    for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && at(child + 1).tag < at(child).tag) {
        child++;
      }
      if (lane.tag <= at(child).tag) {
        break;
      }
      put(at, at(child));
      at = child;
    }
    put(at, lane);
  }
}
