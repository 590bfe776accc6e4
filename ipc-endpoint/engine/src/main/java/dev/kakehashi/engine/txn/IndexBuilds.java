package dev.kakehashi.engine.txn;

import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Turns of the statements that make an index of rows that are there. The store frees nothing meanwhile, and makes one index after the
/// other: a second statement would keep a worker waiting for that.
///
/// Thread-safe (monitor); nothing is called under it.
public final class IndexBuilds {
  private final TaskScheduler scheduler;
  private boolean isBusy;
  private List<Condition> waiting = new ArrayList<>();

  public IndexBuilds(TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /// Takes the turn, which [#leave] gives back.
  ///
  /// @return null if it is taken; otherwise what is signalled when it is worth asking again
  public synchronized @Nullable Condition enter() {
    if (!isBusy) {
      isBusy = true;
      return null;
    }
    Condition free = scheduler.condition();
    waiting.add(free);
    return free;
  }

  /// Gives the turn back.
  public void leave() {
    List<Condition> all;
    synchronized (this) {
      isBusy = false;
      all = waiting;
      waiting = new ArrayList<>();
    }
    all.forEach(Condition::signal);
  }
}
