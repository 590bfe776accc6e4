package dev.kakehashi.transport.endpoint;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Channels whose producers wait, and finished ones whose batches are not all released.
///
/// A reader that releases a batch somebody waits for rings. Other causes (buffers that another session gave back, batches of
/// finished responses) are looked for by a timer, seldom when nothing moves: 10 ms up to 100 ms or 1 s. Thread-safe.
final class WatchedChannels implements ChannelWatch {
  private static final long MIN_PERIOD_NANOS = 10_000_000L;
  private static final long MAX_WRITABLE_PERIOD_NANOS = 100_000_000L;
  private static final long MAX_DRAINED_PERIOD_NANOS = 1_000_000_000L;

  private final Runnable added;
  private final Set<ResponseChannel> writable = new LinkedHashSet<>(); // guarded by itself
  private final Set<ResponseChannel> drained = new LinkedHashSet<>(); // guarded by itself
  private long periodNanos = MIN_PERIOD_NANOS; // poller only

  /// @param added called when the poller has to set its timer
  WatchedChannels(Runnable added) {
    this.added = added;
  }

  @Override
  public void watchWritable(ResponseChannel channel) {
    add(writable, channel);
  }

  @Override
  public void watchDrained(ResponseChannel channel) {
    add(drained, channel);
  }

  private void add(Set<ResponseChannel> set, ResponseChannel channel) {
    boolean first;
    synchronized (set) {
      first = set.isEmpty();
      set.add(channel);
    }
    if (first) {
      added.run();
    }
  }

  /// Wakes producers whose readers have released batches.
  boolean checkReleased() {
    return checkWritable(true);
  }

  /// Wakes producers that may go on.
  private boolean checkWritable(boolean onlyMoved) {
    boolean moved = false;
    for (ResponseChannel channel : copy(writable)) {
      if (onlyMoved && !channel.hasMoved()) {
        continue;
      }
      // Out before the check: a producer that waits again right away puts the channel back.
      remove(writable, channel);
      if (channel.checkWritable()) {
        moved = true;
      } else {
        synchronized (writable) {
          writable.add(channel);
        }
      }
    }
    return moved;
  }

  private boolean checkDrained() {
    boolean moved = false;
    for (ResponseChannel channel : copy(drained)) {
      if (channel.checkDrained()) {
        remove(drained, channel);
        moved = true;
      }
    }
    return moved;
  }

  /// Looks at all; returns when to do so again. Poller only.
  long inspect() {
    boolean moved = checkDrained();
    moved |= checkWritable(false);
    boolean producers = !isEmpty(writable);
    if (!producers && isEmpty(drained)) {
      periodNanos = MIN_PERIOD_NANOS;
      return MAX_DRAINED_PERIOD_NANOS;
    }
    long longest = producers ? MAX_WRITABLE_PERIOD_NANOS : MAX_DRAINED_PERIOD_NANOS;
    periodNanos = moved ? MIN_PERIOD_NANOS : Math.min(longest, 2 * periodNanos);
    return periodNanos;
  }

  /// Forgets the channels of a session whose memory goes.
  void forget(EndpointSession session) {
    for (Set<ResponseChannel> set : List.of(writable, drained)) {
      synchronized (set) {
        set.removeIf(channel -> channel.session() == session);
      }
    }
  }

  int size() {
    return copy(writable).size() + copy(drained).size();
  }

  private static boolean isEmpty(Set<ResponseChannel> set) {
    synchronized (set) {
      return set.isEmpty();
    }
  }

  private static List<ResponseChannel> copy(Set<ResponseChannel> set) {
    synchronized (set) {
      return set.isEmpty() ? List.of() : new ArrayList<>(set);
    }
  }

  private static void remove(Set<ResponseChannel> set, ResponseChannel channel) {
    synchronized (set) {
      set.remove(channel);
    }
  }
}
