package dev.kakehashi.scheduler.process;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The events of one process, in order of arrival. Events that a step does not take come first in the next one.
///
/// ```
///  top         newest event that no step has seen, linked to the older ones   senders push by CAS
///  head, tail  what the running step sees, oldest first                       the running step
/// ```
///
/// A step sees what had arrived when it began. Later events set the wake-up flag of the process, so they cause another step.
public final class Events {
  private static final VarHandle TOP;

  static {
    try {
      TOP = MethodHandles.lookup().findVarHandle(Events.class, "top", Event.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile @Nullable Event top;
  private @Nullable Event head;
  private @Nullable Event tail;

  Events() {}

  /// Takes the oldest event; null if there is none. It is the caller's then.
  public @Nullable Event poll() {
    Event first = head;
    if (first == null) {
      return null;
    }
    head = first.next;
    if (head == null) {
      tail = null;
    }
    first.next = null;
    first.leaveQueue();
    return first;
  }

  /// Whether [#poll()] would return null.
  public boolean isEmpty() {
    return head == null;
  }

  /// Adds an event; false if `limit` wait already. Any thread.
  boolean push(Event event, int limit) {
    for (; ; ) {
      Event newest = top;
      int depth = newest == null ? 1 : newest.depth + 1;
      if (depth > limit) {
        return false;
      }
      event.next = newest;
      event.depth = depth;
      Platform.point(Point.PROCESS_POST);
      if (TOP.compareAndSet(this, newest, event)) {
        return true;
      }
    }
  }

  /// Moves what has arrived to what the step sees.
  void receive() {
    Event newest = (Event) TOP.getAndSet(this, null);
    if (newest == null) {
      return;
    }
    Event oldest = null;
    for (Event event = newest; event != null; ) {
      Event older = event.next;
      event.next = oldest;
      oldest = event;
      event = older;
    }
    if (tail == null) {
      head = oldest;
    } else {
      tail.next = oldest;
    }
    tail = newest;
  }

  /// Lets go of everything: the process has ended. How many were not taken.
  int clear() {
    receive();
    int dropped = 0;
    while (poll() != null) {
      dropped++;
    }
    return dropped;
  }
}
