package dev.kakehashi.application;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Something that lives longer than a call: it runs in steps on workers, keeps its state between them, and costs no thread while it waits.
/// All calls of one process come one after the other, and each sees what the one before has written. A step must not block; what is thrown
/// ends the process.
public interface ApplicationProcess {
  /// Next action of a process after a step.
  enum Next {
    /// Another step, after what else waits.
    CONTINUE,
    /// To wait for a message, an alarm, or the end of the work that it has begun.
    WAIT,
    /// To end.
    END
  }

  /// Called once, before the first step.
  ///
  /// @param argument what [Context#spawn] was given
  default void init(Context context, @Nullable Object argument) throws Exception {}

  /// Does a bounded piece of work.
  Next step(Context context) throws Exception;

  /// Called once at the end, also after an exception.
  default void close() throws Exception {}

  /// Operations that a process may use, on its own steps alone.
  interface Context {
    /// Its address, of no other process of this run of the endpoint; never 0.
    long pid();

    /// The next event, in the order in which they came; null: none is there.
    @Nullable Event receive();

    /// Whether the version ends: the process should end soon.
    boolean isEnding();

    /// Sends to a process of the same application, with tag 0.
    ///
    /// @return false: it has ended, or never existed
    default boolean send(long pid, Object message) {
      return send(pid, 0, message);
    }

    /// Sends to a process of the same application.
    ///
    /// @param tag of the event, of the sender's choice
    /// @return false: it has ended, or never existed
    boolean send(long pid, long tag, Object message);

    /// Starts a process of the same application.
    long spawn(String name, @Nullable Object argument);

    /// Sends a message to itself after a time, with tag 0.
    default void after(Duration time, Object message) {
      after(time, 0, message);
    }

    /// Sends a message to itself after a time.
    ///
    /// @param tag of the event
    void after(Duration time, long tag, Object message);

    /// As the other one, with tag 0.
    default void work(Definitions.Body<Context, ?> body) {
      work(0, body);
    }

    /// Runs straight code that uses the engine, on a virtual thread in a transaction of the platform. The code's result comes as the data
    /// of an
    /// event END, its exception as the error of an event ERROR.
    ///
    /// @param tag of the event
    void work(long tag, Definitions.Body<Context, ?> body);
  }

  /// Something that happened to a process. Immutable.
  ///
  /// | type | comes when | tag | data | error |
  /// |---|---|---|---|---|
  /// | DATA | somebody has sent a message, or a time is over | what its sender gave; 0 without | the message | null |
  /// | END | work has ended | what the process gave with the work; 0 without | its result, which may be null | null |
  /// | ERROR | work has failed | likewise | null | what it has failed with, with its SQLSTATE |
  /// | CANCEL | the version ends: the process should end soon | 0 | null | null |
  public record Event(Type type, long tag, @Nullable Object data, @Nullable EngineFailure error) {
    /// Kind of an event.
    public enum Type {
      DATA,
      END,
      ERROR,
      CANCEL
    }

    private static final Event CANCELED = new Event(Type.CANCEL, 0, null, null);

    /// @throws IllegalArgumentException what belongs to the type is missing, or there is more
    public Event {
      Objects.requireNonNull(type, "type");
      boolean fits =
          (type == Type.ERROR) == (error != null)
              && (data == null || type == Type.DATA || type == Type.END)
              && (data != null || type != Type.DATA);
      if (!fits) {
        throw new IllegalArgumentException(
            "an event of type " + type + " with data " + data + " and error " + error);
      }
    }

    /// A message.
    public static Event data(long tag, Object message) {
      return new Event(Type.DATA, tag, Objects.requireNonNull(message, "message"), null);
    }

    /// Work has ended.
    public static Event end(long tag, @Nullable Object result) {
      return new Event(Type.END, tag, result, null);
    }

    /// Work has failed.
    public static Event error(long tag, EngineFailure failure) {
      return new Event(Type.ERROR, tag, null, Objects.requireNonNull(failure, "failure"));
    }

    /// The process should end.
    public static Event cancel() {
      return CANCELED;
    }
  }
}
