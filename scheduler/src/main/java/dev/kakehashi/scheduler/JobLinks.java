package dev.kakehashi.scheduler;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Links of a job besides its tasks: callbacks of its end, tasks that wait for a condition, open holds. Most jobs have none of them, and no
/// such object. Guarded by the job's lock.
final class JobLinks {
  private List<Consumer<Job>> doneCallbacks = List.of();
  private final Set<Condition.Waiter> waiters = new LinkedHashSet<>(4);
  private final Set<JobHold> holds = new LinkedHashSet<>(4);

  void addCallback(Consumer<Job> callback) {
    if (doneCallbacks.isEmpty()) {
      doneCallbacks = new ArrayList<>(2);
    }
    doneCallbacks.add(callback);
  }

  /// The callbacks, which are forgotten.
  List<Consumer<Job>> takeCallbacks() {
    List<Consumer<Job>> taken = doneCallbacks;
    doneCallbacks = List.of();
    return taken;
  }

  void addWaiter(Condition.Waiter waiter) {
    waiters.add(waiter);
  }

  void removeWaiter(Condition.Waiter waiter) {
    waiters.remove(waiter);
  }

  void addHold(JobHold hold) {
    holds.add(hold);
  }

  /// False if it was closed before.
  boolean removeHold(JobHold hold) {
    return holds.remove(hold);
  }

  static List<Condition.Waiter> waiters(@Nullable JobLinks links) {
    return links == null ? List.of() : List.copyOf(links.waiters);
  }

  static List<JobHold> holds(@Nullable JobLinks links) {
    return links == null ? List.of() : List.copyOf(links.holds);
  }
}
