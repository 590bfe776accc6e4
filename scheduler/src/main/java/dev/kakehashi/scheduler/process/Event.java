package dev.kakehashi.scheduler.process;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Something that happened to a process: a message, the completion of a command, or the wish that it end.
///
/// The object is its own place in the queue, so sending one again allocates nothing. The process that has taken an event from [Events] owns
/// it and may send it on with [Processes#send(Pid, Event)].
public sealed class Event permits Completion {
  /// Kinds of events.
  public enum Kind {
    /// Somebody sent something.
    MESSAGE,
    /// A command has ended; [Event#tag()] says which.
    YIELD_COMPLETE,
    /// The process should end soon: the scheduler shuts down, or somebody asked for it.
    CANCEL
  }

  private static final VarHandle QUEUED;

  static {
    try {
      QUEUED = MethodHandles.lookup().findVarHandle(Event.class, "queued", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Kind kind;
  private final long tag;

  // Written by the completing thread before it queues the event.
  @Nullable Object data;
  @Nullable Throwable error;

  // Fields of the queue that holds the event; ordered by the queue's word.
  @Nullable Event next;
  int depth;

  @SuppressWarnings("unused") // through its VarHandle
  private volatile boolean queued;

  Event(Kind kind, long tag, @Nullable Object data) {
    this.kind = kind;
    this.tag = tag;
    this.data = data;
  }

  /// A message that can be sent, and sent again once it was taken.
  public static Event message(@Nullable Object data) {
    return new Event(Kind.MESSAGE, 0, data);
  }

  /// Kind of the event.
  public final Kind kind() {
    return kind;
  }

  /// Tag of a completion, which the process gave with the command; otherwise 0.
  public final long tag() {
    return tag;
  }

  /// Message, or what the command has brought.
  public final @Nullable Object data() {
    return data;
  }

  /// Failure of the command of a completion, or null.
  public final @Nullable Throwable error() {
    return error;
  }

  /// Claims the object for one queue.
  public boolean enterQueue() {
    return QUEUED.compareAndSet(this, false, true);
  }

  void leaveQueue() {
    QUEUED.setRelease(this, false);
  }

  @Override
  public String toString() {
    return kind + " tag=" + tag + (error == null ? " data=" + data : " error=" + error);
  }
}
