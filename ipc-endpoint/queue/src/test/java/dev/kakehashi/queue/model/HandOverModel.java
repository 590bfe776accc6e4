package dev.kakehashi.queue.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The hand-over of tasks from the commit to a waiting consumer, in every order of its steps: commit, flush, the look without a lock at
/// what is placed, the critical section that applies it, the arrival of consumers, durable claims, calls that end, leases that end.
///
/// All else of queues is guarded by one lock, so its critical sections are single steps here. Two tasks and two consumers are enough for
/// each known mistake.
final class HandOverModel {
  /// Rules that the code relies on; see `QueueCenter`, `GroupConsumers`, `DurableQueues.durable`.
  enum Rule {
    /// A change is among the placed ones before a flush may take its record.
    PLACED_BEFORE_FLUSH,
    /// A consumer looks for tasks and joins the waiting ones in one critical section.
    LOOKS_AND_JOINS_TOGETHER,
    /// Applied tasks are matched with the consumers that wait.
    MATCHES_AFTER_APPLYING,
    /// A match serves as many consumers as there are tasks.
    SERVES_ALL,
    /// A task that was claimed for a call that has ended meanwhile is matched again.
    MATCHES_AFTER_RELEASE,
    /// A lease that ends without a word is matched, too.
    MATCHES_AFTER_LEASE,
    /// Nothing is handed out before its record is durable.
    APPLIES_DURABLE_ONLY
  }

  /// Result of a walk.
  ///
  /// @param states that can be reached
  record Result(int states, Optional<String> violation) {}

  private static final int TASKS = 2;
  private static final int CONSUMERS = 2;

  // States of a task.
  private static final int NONE = 0;
  private static final int LOGGED = 1; // its record may be flushed
  private static final int APPLIED = 2; // and later: claimed, lent
  private static final int CLAIMED = 3; // plus the consumer
  private static final int LENT = 5; // plus the consumer

  // States of a consumer.
  private static final int AWAY = 0;
  private static final int LOOKED = 1;
  private static final int WAITS = 2;
  private static final int CLAIMS = 3;
  private static final int HAS = 4;
  private static final int ENDED = 5;

  // States of the thread that flushes.
  private static final int IDLE = 0;
  private static final int FLUSHED = 1;
  private static final int APPLIES = 2;

  // Places in a state.
  private static final int PLACED = TASKS; // one for each task: whether it is among the placed ones
  private static final int DURABLE = 2 * TASKS; // one for each task
  private static final int CONSUMER = 3 * TASKS;
  private static final int FLUSHER = CONSUMER + CONSUMERS;
  private static final int LEASES = FLUSHER + 1; // that have ended so far
  private static final int SIZE = LEASES + 1;

  private final Set<Rule> rules;
  private final Set<String> seen = new HashSet<>();
  private final ArrayDeque<int[]> todo = new ArrayDeque<>();

  HandOverModel(Set<Rule> rules) {
    this.rules = rules;
  }

  static Set<Rule> without(Rule rule) {
    return EnumSet.complementOf(EnumSet.of(rule));
  }

  Result explore() {
    add(new int[SIZE]);
    while (!todo.isEmpty()) {
      int[] state = todo.remove();
      for (int task = 0; task < TASKS; task++) {
        if (state[task] >= APPLIED && state[DURABLE + task] == 0) {
          return violation("a task is handed out that is not durable", state);
        }
      }
      List<int[]> inner = new ArrayList<>();
      innerSteps(state, inner);
      if (inner.isEmpty()) {
        Optional<String> lost = lost(state);
        if (lost.isPresent()) {
          return violation(lost.get(), state);
        }
      }
      inner.forEach(this::add);
      outerSteps(state);
    }
    return new Result(seen.size(), Optional.empty());
  }

  private Result violation(String what, int[] state) {
    return new Result(seen.size(), Optional.of(what + ": " + Arrays.toString(state)));
  }

  private void add(int[] state) {
    if (seen.add(Arrays.toString(state))) {
      todo.add(state);
    }
  }

  /// When nothing goes on by itself, no task may be left beside a consumer that waits.
  private static Optional<String> lost(int[] state) {
    boolean waits = false;
    for (int consumer = 0; consumer < CONSUMERS; consumer++) {
      waits |= state[CONSUMER + consumer] == WAITS;
    }
    for (int task = 0; task < TASKS; task++) {
      if (state[task] == LOGGED) {
        return Optional.of("a durable task is never applied");
      }
      if (state[task] == APPLIED && waits) {
        return Optional.of("a ready task is left beside a consumer that waits");
      }
    }
    return Optional.empty();
  }

  // ---- steps that come by themselves ----

  private void innerSteps(int[] state, List<int[]> steps) {
    for (int task = 0; task < TASKS; task++) {
      if (state[task] == LOGGED && state[PLACED + task] == 0 && state[DURABLE + task] < 2) {
        int[] next = state.clone();
        next[PLACED + task] = 1;
        steps.add(next);
      }
      if (state[task] == CLAIMED || state[task] == CLAIMED + 1) {
        steps.add(claimDurable(state, task, state[task] - CLAIMED));
      }
    }
    for (int consumer = 0; consumer < CONSUMERS; consumer++) {
      if (state[CONSUMER + consumer] == LOOKED) {
        int[] next = state.clone();
        next[CONSUMER + consumer] = WAITS;
        steps.add(next);
      }
    }
    switch (state[FLUSHER]) {
      case IDLE -> flush(state, steps);
      case FLUSHED -> {
        // The look without the lock: nothing is placed that is durable, so there is nothing to do.
        int[] next = state.clone();
        next[FLUSHER] = IDLE;
        for (int task = 0; task < TASKS; task++) {
          if (isToApply(state, task)) {
            next[FLUSHER] = APPLIES;
          }
        }
        steps.add(next);
      }
      default -> {
        int[] next = state.clone();
        for (int task = 0; task < TASKS; task++) {
          if (isToApply(state, task)) {
            next[task] = APPLIED;
            next[PLACED + task] = 0;
          }
        }
        next[FLUSHER] = IDLE;
        if (rules.contains(Rule.MATCHES_AFTER_APPLYING)) {
          match(next);
        }
        steps.add(next);
      }
    }
  }

  private boolean isToApply(int[] state, int task) {
    return state[PLACED + task] == 1
        && (state[DURABLE + task] == 1 || !rules.contains(Rule.APPLIES_DURABLE_ONLY));
  }

  private void flush(int[] state, List<int[]> steps) {
    int[] next = state.clone();
    for (int task = 0; task < TASKS; task++) {
      if (state[task] == LOGGED && state[DURABLE + task] == 0) {
        next[DURABLE + task] = 1;
        next[FLUSHER] = FLUSHED;
        steps.add(next.clone()); // those up to this one: a flush takes what is there when it begins
      }
    }
  }

  private int[] claimDurable(int[] state, int task, int consumer) {
    int[] next = state.clone();
    if (next[CONSUMER + consumer] == CLAIMS) {
      next[CONSUMER + consumer] = HAS;
      next[task] = LENT + consumer;
    } else {
      next[task] = APPLIED;
      if (rules.contains(Rule.MATCHES_AFTER_RELEASE)) {
        match(next);
      }
    }
    return next;
  }

  private void match(int[] state) {
    for (int consumer = 0; consumer < CONSUMERS; consumer++) {
      for (int task = 0; task < TASKS && state[CONSUMER + consumer] == WAITS; task++) {
        if (state[task] == APPLIED) {
          state[task] = CLAIMED + consumer;
          state[CONSUMER + consumer] = CLAIMS;
          if (!rules.contains(Rule.SERVES_ALL)) {
            return;
          }
        }
      }
    }
  }

  // ---- steps of others, which may never come ----

  private void outerSteps(int[] state) {
    for (int task = 0; task < TASKS; task++) {
      // Commits have their order.
      if (state[task] == NONE && (task == 0 || state[task - 1] != NONE)) {
        int[] next = state.clone();
        next[task] = LOGGED;
        next[PLACED + task] = rules.contains(Rule.PLACED_BEFORE_FLUSH) ? 1 : 0;
        add(next);
      }
      int consumer = state[task] - LENT;
      if (consumer >= 0 && state[LEASES] < 2) {
        int[] next = state.clone();
        next[LEASES]++;
        next[task] = APPLIED;
        next[CONSUMER + consumer] = AWAY;
        if (rules.contains(Rule.MATCHES_AFTER_LEASE)) {
          match(next);
        }
        add(next);
      }
    }
    for (int consumer = 0; consumer < CONSUMERS; consumer++) {
      int[] next = state.clone();
      switch (state[CONSUMER + consumer]) {
        case AWAY -> {
          if (rules.contains(Rule.LOOKS_AND_JOINS_TOGETHER)) {
            next[CONSUMER + consumer] = WAITS;
            match(next);
          } else {
            look(next, consumer);
          }
          add(next);
        }
        case WAITS, CLAIMS -> {
          next[CONSUMER + consumer] = ENDED; // time-out or cancel
          add(next);
        }
        default -> {}
      }
    }
  }

  private static void look(int[] state, int consumer) {
    for (int task = 0; task < TASKS; task++) {
      if (state[task] == APPLIED) {
        state[task] = CLAIMED + consumer;
        state[CONSUMER + consumer] = CLAIMS;
        return;
      }
    }
    state[CONSUMER + consumer] = LOOKED;
  }
}
