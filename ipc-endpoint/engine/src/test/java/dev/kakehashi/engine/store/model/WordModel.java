package dev.kakehashi.engine.store.model;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Words of a memory that readers and writers share: each state that they can be in is visited, one access a step.
///
/// @param <R> rules, each of which a broken implementation may lack
abstract class WordModel<R extends Enum<R>> {
  /// Result of a walk.
  ///
  /// @param states how many were visited
  /// @param violation of an invariant, with the steps to it; empty: there is none
  record Result(int states, Optional<String> violation) {}

  /// Something that may happen next, if it requires nothing else.
  record Step(String name, Runnable run) {}

  private record State(int[] words) {
    @Override
    public boolean equals(Object other) {
      return other instanceof State state && Arrays.equals(words, state.words);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(words);
    }
  }

  /// Words of the state that a step changes.
  int[] s = {};

  private final Set<R> rules;
  private boolean isPossible;
  private String broken = "";

  WordModel(Set<R> rules) {
    this.rules = rules;
  }

  /// The state that everything begins with.
  abstract int[] first();

  abstract List<Step> steps();

  /// Whether nothing is asked of states behind the one that a step has made.
  abstract boolean isOver();

  final boolean has(R rule) {
    return rules.contains(rule);
  }

  /// The step is not possible unless this holds.
  final void require(boolean condition) {
    isPossible = isPossible && condition;
  }

  /// The step breaks an invariant.
  final void breaks(String how) {
    broken = how;
  }

  final Result explore() {
    Map<State, Map.Entry<String, State>> from = new HashMap<>();
    ArrayDeque<State> open = new ArrayDeque<>();
    State begin = new State(first());
    from.put(begin, Map.entry("", begin));
    open.add(begin);
    List<Step> steps = steps();
    while (!open.isEmpty()) {
      State state = open.remove();
      for (Step step : steps) {
        s = state.words.clone();
        isPossible = true;
        step.run.run();
        if (!broken.isEmpty()) {
          return new Result(from.size(), Optional.of(broken + path(from, state) + step.name));
        }
        State next = new State(s);
        if (isPossible
            && !isOver()
            && from.putIfAbsent(next, Map.entry(step.name, state)) == null) {
          open.add(next);
        }
      }
    }
    return new Result(from.size(), Optional.empty());
  }

  private static String path(Map<State, Map.Entry<String, State>> from, State last) {
    StringBuilder path = new StringBuilder();
    State state = last;
    for (Map.Entry<String, State> step = from.get(state);
        step != null && !step.getKey().isEmpty();
        step = from.get(state)) {
      path.insert(0, step.getKey() + ", ");
      state = step.getValue();
    }
    return " after " + path;
  }
}
