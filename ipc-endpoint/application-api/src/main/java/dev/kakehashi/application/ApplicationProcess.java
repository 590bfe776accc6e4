package dev.kakehashi.application;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Something that lives longer than a call: it runs in steps on workers, keeps its state between them, and costs no thread while it waits. All calls of one process come one after the
/// other, and each sees what the one before has written. A step must not block; what is thrown ends the process.
public interface ApplicationProcess {
  /// What a process wants after a step.
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

  /// What a process may use, on its own steps alone.
  interface Context {
    /// Its address, of no other process of this run of the endpoint.
    long pid();

    /// The next message, or the result of work, in the order in which they came; null: none is there.
    @Nullable Object receive();

    /// Whether the version ends: the process should end soon.
    boolean isEnding();

    /// Sends to a process of the same application.
    ///
    /// @return false: it has ended, or never existed
    boolean send(long pid, Object message);

    /// Starts a process of the same application.
    long spawn(String name, @Nullable Object argument);

    /// Sends a message to itself after a time.
    void after(Duration time, Object message);

    /// Runs straight code that uses the engine, on a virtual thread in a transaction of the platform; what it returns comes as a message, [java.util.Optional#empty] for null. An
    /// exception comes as an [EngineFailure] with its SQLSTATE.
    void work(Definitions.Body<Context, ?> body);
  }
}
