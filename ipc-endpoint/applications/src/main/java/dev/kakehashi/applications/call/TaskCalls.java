package dev.kakehashi.applications.call;

import dev.kakehashi.application.QueuedTask;
import dev.kakehashi.applications.define.HandlerMember;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Calls of handlers. Stateless.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class TaskCalls {
  private static final int RETRIES = 5;

  private TaskCalls() {}

  /// Told once how the handling of a task ends; may block.
  public interface Listener {
    /// Its transaction, which completes the task, has committed.
    void done();

    void failed(EngineException reason);
  }

  /// Handles a task in a transaction of the platform, which completes it.
  ///
  /// @param user whose rights it has
  /// @throws EngineException TOO_MANY_SESSIONS
  public static UserCall start(
      CallEnvironment environment,
      HandlerMember member,
      String label,
      String user,
      MemberCounts counts,
      LeasedTask task,
      Listener listener) {
    HandlerSignature signature = member.signature();
    long limit = signature.timeLimitMillis();
    UserCall run =
        new UserCall(
            environment,
            label,
            user,
            counts,
            limit > 0 ? limit : environment.options().get().timeLimitMillis(),
            false,
            new Told(listener),
            call ->
                new PlatformTransactions(call, signature.isolation(), RETRIES)
                    .run(live -> handle(member, live, task), true));
    run.submit();
    return run;
  }

  private static @Nullable Object handle(HandlerMember member, LiveCall call, LeasedTask task)
      throws Throwable {
    Object value = member.payload().read(task.payload());
    member
        .body()
        .run(
            call,
            new QueuedTask<>(
                task.taskId(), task.token().attempt(), Optional.ofNullable(task.key()), value));
    call.use(access -> {
      access.complete(task.token().text());
      return null;
    });
    return null;
  }

  private record Told(Listener listener) implements LoadedApplication.Listener {
    @Override
    public void row(@Nullable Object[] values) {
      throw new IllegalStateException("a handler gives no rows");
    }

    @Override
    public void done() {
      listener.done();
    }

    @Override
    public void failed(EngineException reason) {
      listener.failed(reason);
    }
  }
}
