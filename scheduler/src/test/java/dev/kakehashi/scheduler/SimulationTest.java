package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.platform.Platform.Mutation;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Deterministic simulation of the scheduler's own code, and for every invariant a fault in that code which the same
/// programs must find. `-Dscheduler.seeds=<n>` runs more seeds, `-Dscheduler.seed=<printed>` repeats one.
@Timeout(600)
class SimulationTest {
  private static final long SEEDS = Long.getLong("scheduler.seeds", 10_000);
  private static final long SEEDS_UNTIL_FOUND = 5_000;

  private static Stream<Arguments> scenarios() {
    return Stream.of(
        scenario("random", Scenarios::random, 1),
        scenario("failingWorkers", Scenarios::failingWorkers, 4),
        scenario("deque", Scenarios::deque, 10),
        scenario("eventCount", Scenarios::eventCount, 10),
        scenario("condition", Scenarios::condition, 40),
        scenario("canceledWait", Scenarios::canceledWait, 10),
        scenario("process", ServiceScenarios::process, 20),
        scenario("token", ServiceScenarios::token, 10),
        scenario("admission", ServiceScenarios::admission, 20),
        scenario("idle", Scenarios::idle, 100),
        scenario("fairness", Scenarios::fairness, 40));
  }

  private static Arguments scenario(String name, Scenarios.Scenario scenario, int share) {
    return Arguments.of(name, scenario, share);
  }

  /// @param share one seed of so many is run
  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void shouldKeepAllInvariantsWhateverTheOrderOfSteps(
      String name, Scenarios.Scenario scenario, int share) {
    Long only = Long.getLong("scheduler.seed");
    long first = only != null ? only : 0;
    long end = only != null ? only + 1 : SEEDS / share;
    for (long seed = first; seed < end; seed++) {
      try {
        scenario.run(seed, null);
      } catch (Throwable t) {
        throw new AssertionError(
            name + " is broken, -Dtest=SimulationTest -Dscheduler.seed=" + seed, t);
      }
    }
  }

  @Test
  void shouldRepeatARunExactly() {
    for (long seed = 0; seed < 20; seed++) {
      assertEquals(outcome(seed), outcome(seed), "seed " + seed);
    }
  }

  /// Outcome of a run of a broken scheduler, with times and numbers.
  private static String outcome(long seed) {
    try {
      Scenarios.random(seed, Mutation.LANE_PERMIT_BEFORE_COUNT);
      return "nothing found";
    } catch (AssertionError e) {
      return text(e);
    }
  }

  private static Stream<Arguments> witnesses() {
    return Stream.of(
        witness(Mutation.STEAL_READS_BEFORE_CLAIM, Scenarios::deque, "I1"),
        witness(
            Mutation.PUSH_IGNORES_SLOW_THIEF, Scenarios::deque, "a claimed slot holds its task"),
        witness(Mutation.SPAWN_NOT_COUNTED, Scenarios::random, "I2"),
        witness(Mutation.CREDIT_NOT_RETURNED, Scenarios::random, "I2"),
        witness(Mutation.LANE_NEWEST_FIRST, Scenarios::random, "I3"),
        witness(Mutation.LANE_PERMIT_BEFORE_COUNT, Scenarios::random, ""),
        witness(Mutation.LANE_WITHOUT_LIMIT, Scenarios::random, "I3"),
        witness(Mutation.PINNED_ANYWHERE, Scenarios::random, "I4"),
        witness(Mutation.SLEEP_WITHOUT_RESCAN, Scenarios::random, "I5"),
        witness(Mutation.ONLY_LAST_SEARCHER_RESCANS, Scenarios::random, "I5"),
        witness(Mutation.FINDER_DOES_NOT_LOOK, Scenarios::random, "I5"),
        witness(Mutation.EVENT_WITHOUT_EPOCH, Scenarios::eventCount, "I5"),
        witness(Mutation.SEARCH_WITHOUT_LIMIT, Scenarios::random, "I6"),
        witness(Mutation.SLEEP_FOR_EVER, Scenarios::idle, "I7"),
        witness(Mutation.CONDITION_FORGETS_SIGNAL, Scenarios::condition, ""),
        witness(Mutation.CONDITION_FIRES_TWICE, Scenarios::canceledWait, ""),
        witness(Mutation.CONDITION_IGNORES_CHECK, Scenarios::condition, "I8"),
        witness(Mutation.PROCESS_WITHOUT_WAKE, ServiceScenarios::process, "I9"),
        witness(Mutation.TOKEN_WITHOUT_CAS, ServiceScenarios::token, "I12"),
        witness(Mutation.SLOT_NOT_CLEARED, Scenarios::random, "I10"),
        witness(Mutation.OVERFLOW_INTO_INBOX, Scenarios::fairness, "I11"),
        witness(Mutation.FAIRNESS_BY_COUNT, Scenarios::fairness, "I11"),
        witness(Mutation.FAIRNESS_BY_LAST_SAMPLE, Scenarios::fairness, "I11"),
        witness(Mutation.DISCARD_NOT_COUNTED, Scenarios::random, ""));
  }

  private static Arguments witness(Mutation mutation, Scenarios.Scenario scenario, String finding) {
    return Arguments.of(mutation, scenario, finding);
  }

  /// @param finding what the report must name; empty where a job or a worker just never ends
  @ParameterizedTest(name = "{0}")
  @MethodSource("witnesses")
  void shouldFindEveryFault(Mutation mutation, Scenarios.Scenario scenario, String finding) {
    for (long seed = 0; seed < SEEDS_UNTIL_FOUND; seed++) {
      @Nullable AssertionError found = null;
      try {
        scenario.run(seed, mutation);
      } catch (AssertionError e) {
        found = e;
      }
      if (found != null && text(found).contains(finding)) {
        System.out.println("SimulationTest " + mutation + " found by seed " + seed);
        return;
      }
    }
    throw new AssertionError(mutation + " was not found in " + SEEDS_UNTIL_FOUND + " runs");
  }

  private static String text(@Nullable Throwable thrown) {
    StringBuilder text = new StringBuilder();
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      text.append(t.getMessage()).append('\n');
    }
    return text.toString();
  }

  @Test
  void shouldHaveAWitnessForEveryFault() {
    Set<Mutation> missing = EnumSet.allOf(Mutation.class);
    witnesses().forEach(witness -> missing.remove((Mutation) witness.get()[0]));
    assertTrue(missing.isEmpty(), () -> "no test finds " + missing);
  }
}
