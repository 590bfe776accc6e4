package dev.kakehashi.applications.call;

import dev.kakehashi.application.ApplicationProcess.Event;
import dev.kakehashi.application.Call;
import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Straight code that a process asks for: a call of the platform's own, whose result goes to the process. Stateless.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class WorkCalls {
  private static final String ISOLATION = "READ COMMITTED";
  private static final int RETRIES = 5;

  private WorkCalls() {}

  /// The code.
  @FunctionalInterface
  public interface Body {
    @Nullable Object run(Call call) throws Exception;
  }

  /// Runs it on a virtual thread, in a transaction of its own.
  ///
  /// @param tag of the event
  /// @param then gets an event END with its result, or ERROR with the state of what it has thrown
  /// @throws EngineException TOO_MANY_SESSIONS
  public static void start(
      CallEnvironment environment,
      String member,
      String user,
      MemberCounts counts,
      long tag,
      Body body,
      Consumer<Event> then) {
    Outcome outcome = new Outcome(tag, then);
    UserCall run =
        new UserCall(
            environment,
            member,
            user,
            counts,
            environment.options().get().timeLimitMillis(),
            false,
            outcome,
            call ->
                outcome.result =
                    new PlatformTransactions(call, ISOLATION, RETRIES)
                        .run(live -> body.run(live), true));
    run.submit();
  }

  private static final class Outcome implements LoadedApplication.Listener {
    private final long tag;
    private final Consumer<Event> then;
    private @Nullable Object result; // of the call's thread

    Outcome(long tag, Consumer<Event> then) {
      this.tag = tag;
      this.then = then;
    }

    @Override
    public void row(@Nullable Object[] values) {
      throw new IllegalStateException("work gives no rows");
    }

    @Override
    public void done() {
      then.accept(Event.end(tag, result));
    }

    @Override
    public void failed(EngineException reason) {
      then.accept(
          Event.error(
              tag,
              new EngineFailure(reason.sqlstate(), String.valueOf(reason.getMessage()), reason)));
    }
  }
}
