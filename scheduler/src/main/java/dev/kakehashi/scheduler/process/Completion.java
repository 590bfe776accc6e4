package dev.kakehashi.scheduler.process;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// One command under way: given to its handler as the completer, and queued as the event once it has ended.
final class Completion extends Event implements Completer {
  private static final VarHandle COMPLETED;

  static {
    try {
      COMPLETED =
          MethodHandles.lookup().findVarHandle(Completion.class, "completed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ProcessRun run;

  @SuppressWarnings("unused") // through its VarHandle
  private volatile boolean completed;

  Completion(ProcessRun run, long tag) {
    super(Kind.YIELD_COMPLETE, tag, null);
    this.run = run;
  }

  @Override
  public boolean complete(@Nullable Object result) {
    return end(result, null);
  }

  @Override
  public boolean fail(Throwable thrown) {
    return end(null, thrown);
  }

  private boolean end(@Nullable Object result, @Nullable Throwable thrown) {
    if (!COMPLETED.compareAndSet(this, false, true)) {
      return false;
    }
    data = result;
    error = thrown;
    return enterQueue() && run.post(this, Integer.MAX_VALUE);
  }
}
