package dev.kakehashi.scheduler.model;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Visits every state that a small concurrent program can reach, breadth first, so that the first violation found has
/// the shortest trace.
///
/// A program has shared words, and threads with a program counter and registers. One step of a thread is one shared
/// access. Under TSO a store goes into the thread's buffer first and reaches memory in a later step of its own, in
/// order; loads see the own buffer; an RMW waits until it is empty. Under SC stores are immediate. Java's volatile
/// and release/acquire accesses on x86 are at least as strong as TSO.
final class Checker {
  private static final int BUFFER = 3;
  private static final int MAX_STATES = 3_000_000;

  /// A program to check.
  interface Program {
    /// Shared words, all 0 at first.
    int words();

    /// Threads.
    int threads();

    /// Registers of each thread, all 0 at first; register 0 is the program counter.
    int registers();

    /// Executes one shared access of a thread, or calls [Machine#block()].
    void step(Machine machine, int thread);

    /// Called in states where no thread can go on; reports what is wrong with [Machine#fail].
    void end(Machine machine);
  }

  /// Outcome: states visited, and the violation with its trace, or null.
  record Result(int states, @Nullable String violation) {}

  /// One state, while a step is applied to it.
  static final class Machine {
    private final Program program;
    private final boolean tso;
    private final int[] state;
    private int thread;
    private boolean blocked;
    private @Nullable String failure;

    Machine(Program program, boolean tso, int[] state) {
      this.program = program;
      this.tso = tso;
      this.state = state;
    }

    private int registerAt(int register) {
      return program.words() + thread * program.registers() + register;
    }

    private int bufferAt(int ofThread) {
      return program.words()
          + program.threads() * program.registers()
          + ofThread * (1 + 2 * BUFFER);
    }

    int get(int register) {
      return state[registerAt(register)];
    }

    int get(int ofThread, int register) {
      return state[program.words() + ofThread * program.registers() + register];
    }

    void set(int register, int value) {
      state[registerAt(register)] = value;
    }

    void go(int programCounter) {
      set(0, programCounter);
    }

    int load(int word) {
      int buffer = bufferAt(thread);
      for (int i = state[buffer] - 1; i >= 0; i--) {
        if (state[buffer + 1 + 2 * i] == word) {
          return state[buffer + 2 + 2 * i];
        }
      }
      return state[word];
    }

    void store(int word, int value) {
      if (!tso) {
        state[word] = value;
        return;
      }
      int buffer = bufferAt(thread);
      int n = state[buffer];
      if (n == BUFFER) {
        block();
        return;
      }
      state[buffer + 1 + 2 * n] = word;
      state[buffer + 2 + 2 * n] = value;
      state[buffer]++;
    }

    /// Whether an RMW is possible now; otherwise the step is blocked until the buffer has drained.
    boolean rmw() {
      if (state[bufferAt(thread)] != 0) {
        block();
      }
      return !blocked;
    }

    /// Whether another thread has passed a full fence since the step became possible: the heavy half of an asymmetric fence
    /// waits for that of each thread. The step is blocked until that thread's buffer has drained.
    boolean fenced(int other) {
      if (state[bufferAt(other)] != 0) {
        block();
      }
      return !blocked;
    }

    /// Direct access for RMWs and for ghost words that the real program does not have.
    int memory(int word) {
      return state[word];
    }

    void memory(int word, int value) {
      state[word] = value;
    }

    void block() {
      blocked = true;
    }

    void fail(String what) {
      failure = what;
    }
  }

  private record State(int[] words) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof State state && Arrays.equals(words, state.words);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(words);
    }
  }

  private record Origin(State from, String step) {}

  private Checker() {}

  static Result check(Program program, boolean tso) {
    int size = program.words() + program.threads() * (program.registers() + 1 + 2 * BUFFER);
    State first = new State(new int[size]);
    Map<State, @Nullable Origin> seen = new HashMap<>();
    ArrayDeque<State> queue = new ArrayDeque<>();
    seen.put(first, null);
    queue.add(first);
    while (!queue.isEmpty()) {
      State state = queue.remove();
      boolean moved = false;
      for (int choice = 0; choice < 2 * program.threads(); choice++) {
        Machine machine = new Machine(program, tso, state.words.clone());
        machine.thread = choice / 2;
        String step = choice % 2 == 0 ? act(machine) : drain(machine);
        if (machine.failure != null) {
          return new Result(seen.size(), trace(seen, state, step + ": " + machine.failure));
        }
        if (machine.blocked) {
          continue;
        }
        moved = true;
        State next = new State(machine.state);
        if (!seen.containsKey(next)) {
          seen.put(next, new Origin(state, step));
          queue.add(next);
          if (seen.size() > MAX_STATES) {
            throw new IllegalStateException("more than " + MAX_STATES + " states");
          }
        }
      }
      if (!moved) {
        Machine machine = new Machine(program, tso, state.words);
        program.end(machine);
        if (machine.failure != null) {
          return new Result(seen.size(), trace(seen, state, "end: " + machine.failure));
        }
      }
    }
    return new Result(seen.size(), null);
  }

  private static String act(Machine machine) {
    int at = machine.get(0);
    machine.program.step(machine, machine.thread);
    return "thread " + machine.thread + " at " + at;
  }

  private static String drain(Machine machine) {
    int buffer = machine.bufferAt(machine.thread);
    int n = machine.state[buffer];
    if (n == 0) {
      machine.block();
      return "";
    }
    int word = machine.state[buffer + 1];
    machine.state[word] = machine.state[buffer + 2];
    System.arraycopy(machine.state, buffer + 3, machine.state, buffer + 1, 2 * (n - 1));
    machine.state[buffer + 2 * n] = 0;
    machine.state[buffer + 2 * n - 1] = 0;
    machine.state[buffer]--;
    return "thread " + machine.thread + " drains word " + word;
  }

  private static String trace(Map<State, @Nullable Origin> seen, State last, String violation) {
    ArrayDeque<String> steps = new ArrayDeque<>();
    State state = last;
    for (Origin origin = seen.get(state); origin != null; origin = seen.get(state)) {
      steps.addFirst(origin.step);
      state = origin.from;
    }
    return violation + " after " + steps.size() + " steps: " + String.join("; ", steps);
  }
}
