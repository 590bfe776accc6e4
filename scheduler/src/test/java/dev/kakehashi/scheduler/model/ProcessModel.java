package dev.kakehashi.scheduler.model;

/// The protocol of a process's word: two senders with two events each, two workers that run the process when it is
/// queued, one step at a time. Each step takes all events that are there; the process ends when it has seen all.
///
/// @param variant what is wrong with it, or CORRECT
record ProcessModel(Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// A sender that finds the process running leaves no mark.
    NO_WAKE,
    /// The worker stores "idle" over a mark that came meanwhile.
    IDLE_BY_STORE,
    /// The sender changes the state first and queues the event afterwards.
    STATE_BEFORE_EVENT,
    /// A sender queues the process whatever its state.
    ALWAYS_QUEUED
  }

  private static final int SENDERS = 2;
  private static final int EVENTS_EACH = 2;
  private static final int IDLE = 0;
  private static final int READY = 1;
  private static final int RUNNING = 2;
  private static final int COMPLETE = 3;
  private static final int WAKE = 4;

  private static final int STATE = 0;
  private static final int EVENTS = 1;
  private static final int QUEUED = 2; // the process in the workers' queues
  private static final int SEEN = 3; // ghost
  private static final int INSIDE = 4; // ghost
  private static final int DONE = 99;

  @Override
  public int words() {
    return 5;
  }

  @Override
  public int threads() {
    return SENDERS + 2;
  }

  @Override
  public int registers() {
    return 3; // pc, state seen, events sent
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread < SENDERS) {
      send(m);
    } else {
      work(m);
    }
  }

  private void send(Checker.Machine m) {
    boolean stateFirst = variant == Variant.STATE_BEFORE_EVENT;
    switch (m.get(0)) {
      case 0 -> {
        if (!stateFirst) {
          m.memory(EVENTS, m.memory(EVENTS) + 1);
        }
        m.go(1);
      }
      case 1 -> {
        m.set(1, m.load(STATE));
        m.go(2);
      }
      case 2 -> {
        int state = m.get(1);
        int next = state == IDLE ? READY : state == RUNNING ? RUNNING | WAKE : state;
        if (variant == Variant.NO_WAKE && state == RUNNING) {
          next = state;
        }
        if (m.memory(STATE) != state) {
          m.go(1);
          return;
        }
        m.memory(STATE, next);
        boolean always = variant == Variant.ALWAYS_QUEUED && state != COMPLETE;
        m.memory(QUEUED, m.memory(QUEUED) + (state == IDLE || always ? 1 : 0));
        m.go(3);
      }
      case 3 -> {
        if (stateFirst) {
          m.memory(EVENTS, m.memory(EVENTS) + 1);
        }
        m.set(2, m.get(2) + 1);
        m.go(m.get(2) == EVENTS_EACH ? DONE : 0);
      }
      default -> throw new AssertionError();
    }
  }

  private void work(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        if (m.memory(QUEUED) == 0) {
          m.block();
          return;
        }
        m.memory(QUEUED, m.memory(QUEUED) - 1);
        m.go(1);
      }
      case 1 -> {
        m.memory(STATE, RUNNING); // nobody else may change "ready"
        m.memory(INSIDE, m.memory(INSIDE) + 1);
        if (m.memory(INSIDE) > 1) {
          m.fail("two steps at once");
        }
        m.go(2);
      }
      case 2 -> {
        m.memory(SEEN, m.memory(SEEN) + m.memory(EVENTS));
        m.memory(EVENTS, 0);
        m.go(3);
      }
      case 3 -> {
        m.set(1, m.load(STATE));
        m.memory(INSIDE, m.memory(INSIDE) - 1);
        m.go(4);
      }
      case 4 -> {
        int state = m.get(1);
        if (m.memory(STATE) != state && variant != Variant.IDLE_BY_STORE) {
          m.set(1, m.memory(STATE));
          return;
        }
        boolean again = (state & WAKE) != 0;
        boolean all = m.memory(SEEN) == SENDERS * EVENTS_EACH;
        m.memory(STATE, all ? COMPLETE : again ? READY : IDLE);
        m.memory(QUEUED, m.memory(QUEUED) + (again && !all ? 1 : 0));
        m.go(0);
      }
      default -> throw new AssertionError();
    }
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(SEEN) != SENDERS * EVENTS_EACH || m.memory(STATE) != COMPLETE) {
      m.fail(m.memory(SEEN) + " events were seen, " + m.memory(EVENTS) + " wait");
    }
  }
}
