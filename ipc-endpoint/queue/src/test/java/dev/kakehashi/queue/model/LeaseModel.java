package dev.kakehashi.queue.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// The life of one task among two consumers, the log, and an endpoint that crashes: every state that can be reached is visited.
///
/// A claim, a release, a completion and a death are records. They wait in memory for a flush, and a crash loses those that wait. Consumers
/// keep their tokens through everything, and may show them at any time, also twice. An effect is what a consumer's transaction does beside
/// the completion: it is in the same record.
final class LeaseModel {
  private static final int CONSUMERS = 2;
  private static final int MAX_ATTEMPTS = 3;
  private static final int MAX_INCARNATIONS = 3;

  /// Releases give attempts back, so this ends the walk.
  private static final int MAX_CLAIMS = 5;

  /// A rule that a broken implementation lacks.
  enum Rule {
    /// The end of a lease needs the token of the current lease.
    TOKEN_IS_CHECKED,
    /// No two leases have one token, also where a release gives the attempt's number back.
    TOKEN_IS_UNIQUE,
    /// The consumer is told of its claim when that is durable.
    CLAIM_IS_DURABLE_FIRST,
    /// A lease that is being completed does not pass.
    COMPLETION_HOLDS_LEASE,
    /// Expiry looks at the task in the same critical section in which it changes it.
    EXPIRY_LOOKS_AGAIN,
    /// The attempt is counted when the task is handed out, not when it fails.
    CLAIM_COUNTS
  }

  /// Where a task is in memory.
  private enum Place {
    READY,
    CLAIMING,
    LEASED,
    COMPLETING,
    DYING,
    DONE,
    DEAD
  }

  /// A record of the log.
  private enum Kind {
    CLAIM,
    RELEASE,
    DONE,
    DEAD
  }

  ///
  /// @param claim number of the claim
  private record Entry(Kind kind, int attempt, int consumer, int claim) {}

  /// Token of a consumer.
  ///
  /// @param attempt 0: it has no token
  /// @param number of the claim
  private record Token(int attempt, int number) {
    static final Token NONE = new Token(0, 0);
  }

  /// A state of the whole.
  ///
  /// @param attempts as counted in memory
  /// @param holder consumer of the lease, or -1
  /// @param passing attempt whose expiry was decided by a look before, 0: none
  /// @param durable what a restart finds: READY, DONE or DEAD
  /// @param durableAttempts what a restart counts
  /// @param claims so many were made
  /// @param handed times that a consumer was told of a claim, without those that it has given back
  /// @param effects durable completions
  /// @param deaths durable deaths
  private record State(
      Place place,
      int attempts,
      int holder,
      int passing,
      List<Entry> log,
      Place durable,
      int durableAttempts,
      int incarnation,
      int claims,
      List<Token> tokens,
      int handed,
      int effects,
      int deaths) {}

  private final Set<Rule> rules;
  private final List<Map.Entry<String, State>> next = new ArrayList<>();
  private String broken = "";

  LeaseModel(Set<Rule> rules) {
    this.rules = rules;
  }

  /// Result of a walk.
  ///
  /// @param states how many were visited
  /// @param violation of an invariant, with the steps to it; empty: there is none
  record Result(int states, Optional<String> violation) {}

  Result explore() {
    State first =
        new State(
            Place.READY,
            0,
            -1,
            0,
            List.of(),
            Place.READY,
            0,
            1,
            0,
            List.of(Token.NONE, Token.NONE),
            0,
            0,
            0);
    Map<State, Map.Entry<String, State>> from = new HashMap<>();
    Map<State, List<State>> before = new HashMap<>();
    from.put(first, Map.entry("", first));
    ArrayDeque<State> open = new ArrayDeque<>(List.of(first));
    while (!open.isEmpty()) {
      State state = open.poll();
      next.clear();
      broken = "";
      steps(state);
      if (broken.isEmpty()) {
        broken = violation(state);
      }
      if (!broken.isEmpty()) {
        return new Result(from.size(), Optional.of(broken + path(from, state, first)));
      }
      for (Map.Entry<String, State> step : next) {
        before.computeIfAbsent(step.getValue(), one -> new ArrayList<>()).add(state);
        if (from.putIfAbsent(step.getValue(), Map.entry(step.getKey(), state)) == null) {
          open.add(step.getValue());
        }
      }
    }
    return new Result(from.size(), stuck(from, before, first));
  }

  /// From everywhere the task can come to its end.
  private static Optional<String> stuck(
      Map<State, Map.Entry<String, State>> from, Map<State, List<State>> before, State first) {
    Set<State> ending = new java.util.HashSet<>();
    ArrayDeque<State> open = new ArrayDeque<>();
    for (State state : from.keySet()) {
      // Without claims left the walk ends, not the task.
      if ((state.durable() != Place.READY || state.claims() == MAX_CLAIMS) && ending.add(state)) {
        open.add(state);
      }
    }
    while (!open.isEmpty()) {
      for (State earlier : before.getOrDefault(open.poll(), List.of())) {
        if (ending.add(earlier)) {
          open.add(earlier);
        }
      }
    }
    return from.keySet().stream()
        .filter(state -> !ending.contains(state))
        .findFirst()
        .map(state -> "the task never ends:" + path(from, state, first));
  }

  private static String path(Map<State, Map.Entry<String, State>> from, State last, State first) {
    ArrayDeque<String> steps = new ArrayDeque<>();
    State at = last;
    while (!at.equals(first)) {
      Map.Entry<String, State> step = from.getOrDefault(at, Map.entry("", first));
      steps.push(step.getKey());
      at = step.getValue();
    }
    return " " + String.join(", ", steps);
  }

  private static String violation(State state) {
    if (state.effects() > 1) {
      return "effects of two completions:";
    }
    if (state.deaths() > 1) {
      return "two deaths:";
    }
    if (state.effects() + state.deaths() > 1) {
      return "done and dead:";
    }
    int survives = state.durableAttempts();
    if (state.handed() > survives) {
      return "a crash would take an attempt back that was handed out:";
    }
    if (state.handed() > MAX_ATTEMPTS) {
      return "handed out too often:";
    }
    return "";
  }

  private boolean has(Rule rule) {
    return rules.contains(rule);
  }

  private void steps(State s) {
    for (int consumer = 0; consumer < CONSUMERS; consumer++) {
      if (s.place() == Place.READY && s.attempts() < MAX_ATTEMPTS && s.claims() < MAX_CLAIMS) {
        claim(s, consumer);
      }
      if (s.tokens().get(consumer).attempt() > 0) {
        end(s, consumer, Kind.DONE);
        end(s, consumer, Kind.RELEASE);
      }
    }
    if (s.place() == Place.LEASED) {
      expire(s);
    }
    if (s.passing() > 0) {
      passLater(s);
    }
    if (!s.log().isEmpty()) {
      flush(s);
    }
    if (s.incarnation() < MAX_INCARNATIONS) {
      crash(s);
    }
  }

  private void claim(State s, int consumer) {
    int attempt = has(Rule.CLAIM_COUNTS) ? s.attempts() + 1 : Math.max(1, s.attempts());
    boolean first = has(Rule.CLAIM_IS_DURABLE_FIRST);
    State claimed =
        new State(
            first ? Place.CLAIMING : Place.LEASED,
            attempt,
            consumer,
            s.passing(),
            with(s.log(), new Entry(Kind.CLAIM, attempt, consumer, s.claims() + 1)),
            s.durable(),
            s.durableAttempts(),
            s.incarnation(),
            s.claims() + 1,
            first ? s.tokens() : with(s.tokens(), consumer, new Token(attempt, s.claims() + 1)),
            s.handed() + (first ? 0 : 1),
            s.effects(),
            s.deaths());
    next.add(Map.entry("claim by " + consumer, claimed));
  }

  /// A consumer shows its token to complete the task, or to give it back.
  private void end(State s, int consumer, Kind how) {
    Token token = s.tokens().get(consumer);
    boolean live =
        s.place() == Place.LEASED
            && (!has(Rule.TOKEN_IS_CHECKED)
                || (has(Rule.TOKEN_IS_UNIQUE)
                    ? token.number() == s.claims()
                    : token.attempt() == s.attempts()));
    if (!live) {
      // It is told that its lease is lost, and nothing changes.
      return;
    }
    if (s.holder() != consumer || token.number() != s.claims()) {
      broken = "consumer " + consumer + " ends a lease that it does not have:";
    }
    boolean releases = how == Kind.RELEASE;
    Place place =
        releases ? Place.READY : has(Rule.COMPLETION_HOLDS_LEASE) ? Place.COMPLETING : Place.LEASED;
    State ended =
        new State(
            place,
            s.attempts() - (releases ? 1 : 0),
            releases ? -1 : s.holder(),
            s.passing(),
            with(s.log(), new Entry(how, s.attempts(), consumer, s.claims())),
            s.durable(),
            s.durableAttempts(),
            s.incarnation(),
            s.claims(),
            s.tokens(),
            s.handed() - (releases ? 1 : 0),
            s.effects(),
            s.deaths());
    next.add(Map.entry(how + " by " + consumer, ended));
  }

  private void expire(State s) {
    if (has(Rule.EXPIRY_LOOKS_AGAIN)) {
      next.add(Map.entry("expire", passed(s)));
    } else if (s.passing() == 0) {
      next.add(Map.entry("look at expiry", passing(s, s.attempts())));
    }
  }

  /// Expiry by what was seen before, whatever has happened since.
  private void passLater(State s) {
    State seen = passing(s, 0);
    if (s.place() != Place.READY && s.place() != Place.CLAIMING) {
      next.add(Map.entry("expire by an old look", passed(seen)));
    } else {
      next.add(Map.entry("forget the look", seen));
    }
  }

  /// The lease is over: ready again, or dead.
  private static State passed(State s) {
    boolean dies = s.attempts() >= MAX_ATTEMPTS;
    return new State(
        dies ? Place.DYING : Place.READY,
        s.attempts(),
        -1,
        s.passing(),
        dies ? with(s.log(), new Entry(Kind.DEAD, s.attempts(), -1, 0)) : s.log(),
        s.durable(),
        s.durableAttempts(),
        s.incarnation(),
        s.claims(),
        s.tokens(),
        s.handed(),
        s.effects(),
        s.deaths());
  }

  /// The oldest record becomes durable, and those who wait for it are told.
  private void flush(State s) {
    Entry entry = s.log().getFirst();
    List<Entry> log = s.log().subList(1, s.log().size());
    State flushed =
        switch (entry.kind()) {
          case CLAIM -> {
            boolean tell = has(Rule.CLAIM_IS_DURABLE_FIRST);
            yield new State(
                tell && s.place() == Place.CLAIMING ? Place.LEASED : s.place(),
                s.attempts(),
                s.holder(),
                s.passing(),
                log,
                s.durable(),
                has(Rule.CLAIM_COUNTS) ? entry.attempt() : s.durableAttempts(),
                s.incarnation(),
                s.claims(),
                tell
                    ? with(s.tokens(), entry.consumer(), new Token(entry.attempt(), entry.claim()))
                    : s.tokens(),
                s.handed() + (tell ? 1 : 0),
                s.effects(),
                s.deaths());
          }
          case RELEASE ->
              new State(
                  s.place(),
                  s.attempts(),
                  s.holder(),
                  s.passing(),
                  log,
                  s.durable(),
                  entry.attempt() - 1,
                  s.incarnation(),
                  s.claims(),
                  s.tokens(),
                  s.handed(),
                  s.effects(),
                  s.deaths());
          case DONE ->
              new State(
                  Place.DONE,
                  s.attempts(),
                  -1,
                  s.passing(),
                  log,
                  Place.DONE,
                  s.durableAttempts(),
                  s.incarnation(),
                  s.claims(),
                  s.tokens(),
                  s.handed(),
                  s.effects() + 1,
                  s.deaths());
          case DEAD ->
              new State(
                  Place.DEAD,
                  s.attempts(),
                  -1,
                  s.passing(),
                  log,
                  Place.DEAD,
                  s.durableAttempts(),
                  s.incarnation(),
                  s.claims(),
                  s.tokens(),
                  s.handed(),
                  s.effects(),
                  s.deaths() + 1);
        };
    next.add(Map.entry("flush " + entry.kind(), flushed));
  }

  /// Changes that were not durable are gone; so are all leases. A task without attempts left dies when it is found.
  private void crash(State s) {
    boolean dies = s.durable() == Place.READY && s.durableAttempts() >= MAX_ATTEMPTS;
    State restarted =
        new State(
            dies ? Place.DYING : s.durable(),
            s.durableAttempts(),
            -1,
            0,
            dies ? List.of(new Entry(Kind.DEAD, s.durableAttempts(), -1, 0)) : List.of(),
            s.durable(),
            s.durableAttempts(),
            s.incarnation() + 1,
            s.claims(),
            s.tokens(),
            s.handed(),
            s.effects(),
            s.deaths());
    next.add(Map.entry("crash", restarted));
  }

  private static State passing(State s, int attempt) {
    return new State(
        s.place(),
        s.attempts(),
        s.holder(),
        attempt,
        s.log(),
        s.durable(),
        s.durableAttempts(),
        s.incarnation(),
        s.claims(),
        s.tokens(),
        s.handed(),
        s.effects(),
        s.deaths());
  }

  private static <T> List<T> with(List<T> list, T more) {
    List<T> all = new ArrayList<>(list);
    all.add(more);
    return List.copyOf(all);
  }

  private static <T> List<T> with(List<T> list, int at, T item) {
    List<T> all = new ArrayList<>(list);
    all.set(at, item);
    return List.copyOf(all);
  }

  /// All rules but one.
  static Set<Rule> without(Rule rule) {
    Map<Rule, Boolean> left = new TreeMap<>();
    Arrays.stream(Rule.values()).filter(each -> each != rule).forEach(each -> left.put(each, true));
    return left.keySet();
  }
}
