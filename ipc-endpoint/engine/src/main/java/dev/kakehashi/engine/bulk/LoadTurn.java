package dev.kakehashi.engine.bulk;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Turns of the tasks of a load to change their transaction. Thread-safe.
final class LoadTurn {
  private final Deque<LoadTask> waiting = new ArrayDeque<>();
  private @Nullable LoadTask owner;

  /// Whether the task has the turn now. If not, it is woken when it has it.
  synchronized boolean take(LoadTask task) {
    if (owner == null) {
      owner = task;
    } else if (owner != task && !waiting.contains(task)) {
      waiting.add(task);
    }
    return owner == task;
  }

  /// Gives the turn to the next one, if the task has it; it does not wait for it any more.
  void leave(LoadTask task) {
    LoadTask next;
    synchronized (this) {
      waiting.remove(task);
      if (owner != task) {
        return;
      }
      next = waiting.poll();
      owner = next;
    }
    if (next != null) {
      next.wake();
    }
  }
}
