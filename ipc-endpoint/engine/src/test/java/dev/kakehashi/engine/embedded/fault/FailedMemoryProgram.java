package dev.kakehashi.engine.embedded.fault;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.ScriptSession;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Runs scripts in which one allocation of the store's memory fails, again and again, and looks at what is left.
///
/// A script is a list of steps; each is a statement, or a transaction. The first run of a script has no failure. It says how many
/// allocations there are, and what is in the tables after each step.
final class FailedMemoryProgram {
  private static final long MEMORY_BYTES = 64 << 20;
  private static final String HELD =
      "select changes_held, commits_held, used_bytes from kakehashi_catalog.memory";

  private final TestEngine engine;
  private final ScriptSession session;
  private final Random random;
  private int told;

  private FailedMemoryProgram(TestEngine engine, long seed) {
    this.engine = engine;
    this.session = new ScriptSession(engine);
    this.random = new Random(seed);
  }

  /// @param arguments directory, seed, number of failures
  public static void main(String[] arguments) {
    long seed = Long.parseLong(arguments[1]);
    int failures = Integer.parseInt(arguments[2]);
    try (TestEngine engine = new TestEngine(Path.of(arguments[0]), 2, MEMORY_BYTES)) {
      new FailedMemoryProgram(engine, seed).run(failures);
    }
  }

  private void run(int failures) {
    List<FailedMemoryScript> scripts = FailedMemoryScript.all();
    List<List<List<String>>> states = new ArrayList<>();
    List<Long> allocations = new ArrayList<>();
    for (FailedMemoryScript script : scripts) {
      FailedAllocations.arm(0, 1);
      states.add(states(script));
      allocations.add(FailedAllocations.disarm());
    }
    System.out.println("allocations of the scripts: " + allocations);
    requireNothingHeld();
    for (long at = 1; at <= allocations.getFirst(); at++) {
      for (int times = 1; times <= 2; times++) {
        runFailing(0, scripts.getFirst(), states.getFirst(), at, times);
      }
    }
    for (int i = 0; i < failures; i++) {
      int chosen = 1 + random.nextInt(scripts.size() - 1);
      long at = 1 + random.nextLong(allocations.get(chosen));
      runFailing(chosen, scripts.get(chosen), states.get(chosen), at, 1 + random.nextInt(2));
    }
    System.out.println("clients that were told 53200: " + told);
  }

  /// @param number of the script
  /// @param at the allocation that fails
  /// @param times how many fail
  private void runFailing(
      int number, FailedMemoryScript script, List<List<String>> states, long at, int times) {
    FailedAllocations.arm(at, times);
    try {
      run(script, states);
      FailedAllocations.disarm();
      requireNothingHeld();
    } catch (RuntimeException | AssertionError e) {
      AssertionError failed =
          new AssertionError(
              "script %d, %d failures from allocation %d on; transactions: %s"
                  .formatted(
                      number,
                      times,
                      at,
                      engine.query("select * from kakehashi_catalog.transactions")),
              e);
      StackTraceElement[] place = FailedAllocations.place();
      if (place != null) {
        Throwable there = new Throwable("the allocation that failed");
        there.setStackTrace(place);
        failed.addSuppressed(there);
      }
      throw failed;
    }
  }

  /// Runs a script without a failure.
  ///
  /// @return what is in the tables after each step
  private List<List<String>> states(FailedMemoryScript script) {
    List<List<String>> states = new ArrayList<>();
    for (List<String> step : script.steps()) {
      step.forEach(session::run);
      states.add(state(script));
    }
    return states;
  }

  /// Runs a script in which an allocation fails.
  ///
  /// @param states what is in the tables after each step
  private void run(FailedMemoryScript script, List<List<String>> states) {
    for (int i = 0; i < states.size(); i++) {
      List<String> step = script.steps().get(i);
      boolean before = FailedAllocations.place() == null;
      if (!succeeds(step)) {
        told++;
        FailedAllocations.disarm();
        if (i > 0) {
          requireSame(step, states.get(i - 1), state(script));
        }
        if (!succeeds(step)) {
          throw new AssertionError("failed again: " + step);
        }
      }
      if (before && FailedAllocations.place() != null) {
        requireSame(step, states.get(i), state(script));
      }
    }
  }

  private static void requireSame(List<String> step, List<String> expected, List<String> state) {
    if (!state.equals(expected)) {
      throw new AssertionError("%s left %s, not %s".formatted(step, state, expected));
    }
  }

  /// Runs a step; if it is told that there is no memory, it is taken back.
  private boolean succeeds(List<String> step) {
    try {
      step.forEach(session::run);
      return true;
    } catch (EngineException failure) {
      if (!failure.code().sqlstate().equals("53200")) {
        throw failure;
      }
      if (step.size() > 1) {
        session.run("rollback");
      }
      return false;
    }
  }

  private List<String> state(FailedMemoryScript script) {
    List<String> found = new ArrayList<>();
    for (String query : script.queries()) {
      try {
        found.addAll(engine.query(query));
      } catch (EngineException failure) {
        if (!failure.code().sqlstate().startsWith("42")) {
          throw failure;
        }
        found.add("no table");
      }
    }
    return found;
  }

  /// Waits until nothing is left of what has ended, and no table is there.
  private void requireNothingHeld() {
    Await.untilEquals(
        "changes and commits held, bytes used", List.of("0|0|0"), () -> engine.query(HELD));
  }
}
