package dev.kakehashi.applications.call;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// How many calls of an application run at a time, and which wait, in order. Thread-safe.
public final class CallSlots {
  private final String application;
  private final Supplier<ApplicationOptions> options;
  private final ArrayDeque<UserCall> waiting = new ArrayDeque<>(); // guarded by this
  private int running; // guarded by this

  public CallSlots(String application, Supplier<ApplicationOptions> options) {
    this.application = application;
    this.options = options;
  }

  /// Starts a call, or lets it wait.
  ///
  /// @throws EngineException TOO_MANY_SESSIONS: more wait than may
  void enter(UserCall call) {
    synchronized (this) {
      ApplicationOptions limits = options.get();
      if (running >= limits.maxCalls()) {
        if (waiting.size() >= limits.maxWaiting()) {
          throw new EngineException(
                  ErrorCode.TOO_MANY_SESSIONS,
                  "application "
                      + application
                      + " has "
                      + running
                      + " calls under way and "
                      + waiting.size()
                      + " that wait, max_calls and max_waiting")
              .withHint(
                  "Try again, or let more of them run: ALTER APPLICATION ... SET (max_calls = ...).");
        }
        waiting.addLast(call);
        return;
      }
      running++;
    }
    call.start();
  }

  /// A call that was started has ended.
  void leave() {
    @Nullable UserCall next;
    synchronized (this) {
      next = running > options.get().maxCalls() ? null : waiting.pollFirst();
      if (next == null) {
        running--;
      }
    }
    if (next != null) {
      next.start();
    }
  }

  /// A call need not wait any more.
  ///
  /// @return false: it does not wait
  synchronized boolean withdraw(UserCall call) {
    return waiting.remove(call);
  }
}
