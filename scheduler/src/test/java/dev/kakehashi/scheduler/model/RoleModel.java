package dev.kakehashi.scheduler.model;

/// The distribution role of `Sleepers` with `Worker.distribute`: a publisher makes two tasks that never end, for three
/// workers. Both have to be got going. A worker that does not work must distribute, not sleep, as long as another one works. Everything
/// under the lock is one step.
///
/// @param variant what is wrong with it, or CORRECT
record RoleModel(Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// A worker falls asleep beside a working one although nobody distributes.
    SLEEPS_WITHOUT_LOOKING_AT_THE_ROLE,
    /// A distributor that runs what it found leaves the role to nobody.
    LEAVES_WITHOUT_PASSING_ON,
    /// Nobody looks at the queues after announcing a sleep.
    NOBODY_RESCANS
  }

  private static final int WORKERS = 3;
  private static final int TASKS = 2;
  private static final int PUBLISHED = 0;
  private static final int TAKEN = 1;
  private static final int ASLEEP =
      2; // with SEARCHING and SLEEPING one state: always changed in one step
  private static final int SEARCHING = 3;
  private static final int SLEEPING = 4; // bit mask: the stack
  private static final int PERMIT = 5; // one word for each worker
  private static final int HANDED = 1;
  private static final int INTO_ROLE = 2;
  private static final int DONE = 99;

  @Override
  public int words() {
    return PERMIT + WORKERS;
  }

  @Override
  public int threads() {
    return WORKERS + 1;
  }

  @Override
  public int registers() {
    return 3; // pc, searching, worker to wake
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread == WORKERS) {
      publisher(m);
    } else {
      worker(m, thread);
    }
  }

  private void publisher(Checker.Machine m) {
    int made = m.get(1);
    switch (m.get(0)) {
      case 0 -> {
        if (m.rmw()) {
          m.memory(PUBLISHED, made + 1);
        }
        m.set(1, made + 1);
        m.go(1);
      }
      case 1 -> m.go(nobodyToWake(m) ? afterPublication(made) : 2);
      case 2 -> {
        wake(m);
        m.go(afterPublication(made));
      }
      default -> throw new AssertionError();
    }
  }

  private static int afterPublication(int made) {
    return made == TASKS ? DONE : 0;
  }

  private void worker(Checker.Machine m, int me) {
    switch (m.get(0)) {
      case 0 -> m.go(take(m) ? DONE : 1);
      case 1 -> {
        if (m.rmw()) {
          m.go(takeRole(m) ? 2 : 5);
        }
      }
      case 2 -> m.go(take(m) ? 3 : 4);
      case 3 -> recipient(m);
      case 4 -> {
        if (!work(m) && WORKERS - m.load(ASLEEP) > 1) {
          m.block();
        } else {
          m.go(work(m) ? 2 : 5);
        }
      }
      case 5 -> announce(m, me);
      case 6 -> m.go(work(m) && variant != Variant.NOBODY_RESCANS ? 7 : 8);
      case 7 -> {
        wake(m);
        m.go(8);
      }
      case 8 -> {
        int permit = m.load(PERMIT + me);
        if (permit == 0) {
          m.block();
        } else {
          m.memory(PERMIT + me, 0);
          m.set(1, 1);
          m.go(permit == HANDED ? DONE : 2);
        }
      }
      case 30 -> passRole(m);
      case 31 -> {
        m.memory(PERMIT + m.get(2), HANDED);
        m.go(2);
      }
      case 32 -> {
        m.memory(PERMIT + m.get(2), INTO_ROLE);
        m.go(DONE);
      }
      default -> throw new AssertionError();
    }
  }

  private static boolean takeRole(Checker.Machine m) {
    boolean free = m.memory(SEARCHING) == 0;
    if (free) {
      m.memory(SEARCHING, 1);
      m.set(1, 1);
    }
    return free;
  }

  private void recipient(Checker.Machine m) {
    if (!m.rmw()) {
      return;
    }
    if (m.memory(ASLEEP) > 0 && WORKERS - m.memory(ASLEEP) > 1) {
      m.set(2, pop(m));
      m.go(31);
    } else {
      m.go(30);
    }
  }

  private void passRole(Checker.Machine m) {
    if (!m.rmw()) {
      return;
    }
    if (m.memory(ASLEEP) == 0 || variant == Variant.LEAVES_WITHOUT_PASSING_ON) {
      m.memory(SEARCHING, m.memory(SEARCHING) - 1);
      m.go(DONE);
    } else {
      m.set(2, pop(m));
      m.go(32);
    }
  }

  private void announce(Checker.Machine m, int me) {
    if (!m.rmw()) {
      return;
    }
    boolean searching = m.get(1) == 1;
    if (WORKERS - m.memory(ASLEEP) > 1
        && variant != Variant.SLEEPS_WITHOUT_LOOKING_AT_THE_ROLE
        && (searching || takeRole(m))) {
      m.go(2);
      return;
    }
    m.memory(SLEEPING, m.memory(SLEEPING) | 1 << me);
    m.memory(ASLEEP, m.memory(ASLEEP) + 1);
    m.memory(SEARCHING, m.memory(SEARCHING) - (searching ? 1 : 0));
    m.set(1, 0);
    m.go(6);
  }

  private static int pop(Checker.Machine m) {
    int woken = Integer.numberOfTrailingZeros(m.memory(SLEEPING));
    m.memory(SLEEPING, m.memory(SLEEPING) & ~(1 << woken));
    m.memory(ASLEEP, m.memory(ASLEEP) - 1);
    return woken;
  }

  private static boolean take(Checker.Machine m) {
    boolean any = work(m);
    if (any) {
      m.memory(TAKEN, m.memory(TAKEN) + 1);
    }
    return any;
  }

  private static boolean work(Checker.Machine m) {
    return m.load(PUBLISHED) > m.load(TAKEN);
  }

  private static boolean nobodyToWake(Checker.Machine m) {
    return m.load(SEARCHING) > 0 || m.load(ASLEEP) == 0;
  }

  private static void wake(Checker.Machine m) {
    if (!m.rmw() || nobodyToWake(m)) {
      return;
    }
    m.memory(SEARCHING, m.memory(SEARCHING) + 1);
    m.memory(PERMIT + pop(m), INTO_ROLE);
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(PUBLISHED) > m.memory(TAKEN)) {
      m.fail("a task is queued beside a sleeping worker");
    }
    if (m.memory(SEARCHING) > 1) {
      m.fail("two distributors");
    }
    if (m.memory(TAKEN) > 0 && m.memory(ASLEEP) > 0 && m.memory(SEARCHING) == 0) {
      m.fail("nobody distributes although a worker works and another one sleeps");
    }
  }
}
