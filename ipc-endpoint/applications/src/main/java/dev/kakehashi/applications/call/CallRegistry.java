package dev.kakehashi.applications.call;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Calls of a version that have begun or wait, and have not ended. Thread-safe.
public final class CallRegistry {
  private final Set<UserCall> live = ConcurrentHashMap.newKeySet();
  private final Runnable changed;

  /// @param changed is run when one has ended
  public CallRegistry(Runnable changed) {
    this.changed = changed;
  }

  void add(UserCall call) {
    live.add(call);
  }

  void remove(UserCall call) {
    if (live.remove(call)) {
      changed.run();
    }
  }

  public int count() {
    return live.size();
  }

  /// Cancels all.
  public void cancel(EngineException why) {
    live.forEach(call -> call.cancel(why));
  }
}
