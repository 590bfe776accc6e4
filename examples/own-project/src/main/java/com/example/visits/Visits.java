package com.example.visits;

import dev.kakehashi.application.Application;
import dev.kakehashi.application.Call;
import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.QueuedTask;

/// Counts visits of pages in two ways: by a process, which is quick and forgets its last moment in a crash, and by a queue, which forgets
/// nothing.
public final class Visits implements Application {
  /// A task of the queue `sighting`.
  public record Sighting(String page) {}

  static final String COUNT =
      "INSERT INTO visits AS v VALUES ($1, $2) ON CONFLICT (page) DO UPDATE SET hits = v.hits + $2";

  @Override
  public void define(Definitions it) {
    it.process("counter", Counter::new);
    it.procedure("visit", String.class, Boolean.class, Visits::visit);
    it.handler("sighting", Sighting.class, Visits::count);
  }

  /// Tells each counter; false: none runs.
  private static Boolean visit(Call call, String page) {
    return call.processes("counter").stream().anyMatch(pid -> call.send(pid, page));
  }

  /// The transaction that counts also completes the task.
  private static void count(Call call, QueuedTask<Sighting> task) {
    call.execute(COUNT, task.value().page(), 1L);
  }
}
