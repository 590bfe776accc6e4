package dev.kakehashi.scheduler.model;

/// The end of a scheduler: a submitter with two jobs, a closer that refuses further ones, waits until no job is left and
/// stops the workers, and two workers of which one is on its way to sleep. Locks are one step.
///
/// @param variant what is wrong with it, or CORRECT
record ShutdownModel(Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// A worker that announces its sleep after everyone was woken does not look whether it is over.
    NO_LOOK_AFTER_ANNOUNCEMENT,
    /// The submitter looks whether it is closed, and registers its job without the lock.
    CLOSED_SEEN_BEFORE,
    /// The workers are stopped without waiting for the jobs, and leave without a last look.
    NO_LAST_LOOK
  }

  private static final int WORKERS = 2;
  private static final int JOBS = 2;
  private static final int SUBMITTER = WORKERS;
  private static final int CLOSER = WORKERS + 1;
  private static final int CLOSED = 0;
  private static final int REGISTERED = 1;
  private static final int QUEUED = 2;
  private static final int STOPPED = 3;
  private static final int SLEEPING = 4; // bit mask: the stack
  private static final int PERMIT = 5; // one word for each worker
  private static final int ACCEPTED = PERMIT + WORKERS; // ghost
  private static final int RUN = ACCEPTED + 1; // ghost
  private static final int DONE = 99;

  @Override
  public int words() {
    return RUN + 1;
  }

  @Override
  public int threads() {
    return WORKERS + 2;
  }

  @Override
  public int registers() {
    return 2; // pc, jobs submitted
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread == SUBMITTER) {
      submit(m);
    } else if (thread == CLOSER) {
      close(m);
    } else {
      work(m, thread);
    }
  }

  private void submit(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        if (m.memory(CLOSED) == 1) {
          m.go(DONE); // refused
        } else if (variant == Variant.CLOSED_SEEN_BEFORE) {
          m.go(1);
        } else {
          register(m);
        }
      }
      case 1 -> register(m);
      case 2 -> {
        m.memory(QUEUED, m.memory(QUEUED) + 1);
        m.go(3);
      }
      case 3 -> {
        wake(m, 1);
        m.set(1, m.get(1) + 1);
        m.go(m.get(1) == JOBS ? DONE : 0);
      }
      default -> throw new AssertionError();
    }
  }

  private static void register(Checker.Machine m) {
    m.memory(REGISTERED, m.memory(REGISTERED) + 1);
    m.memory(ACCEPTED, m.memory(ACCEPTED) + 1);
    m.go(2);
  }

  private void close(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        m.memory(CLOSED, 1);
        m.go(1);
      }
      case 1 -> {
        if (m.memory(REGISTERED) > 0 && variant != Variant.NO_LAST_LOOK) {
          m.block();
        } else {
          m.go(2);
        }
      }
      case 2 -> {
        if (m.rmw()) { // a volatile store
          m.memory(STOPPED, 1);
          m.go(3);
        }
      }
      case 3 -> {
        wake(m, WORKERS);
        m.go(DONE);
      }
      default -> throw new AssertionError();
    }
  }

  private void work(Checker.Machine m, int me) {
    switch (m.get(0)) {
      case 0 -> {
        if (m.memory(QUEUED) > 0) {
          m.memory(QUEUED, m.memory(QUEUED) - 1);
          m.go(1);
        } else {
          m.go(2);
        }
      }
      case 1 -> {
        m.memory(RUN, m.memory(RUN) + 1);
        m.memory(REGISTERED, m.memory(REGISTERED) - 1);
        m.go(0);
      }
      case 2 -> m.go(m.load(STOPPED) == 1 ? 3 : 4);
      case 3 -> {
        boolean last = variant != Variant.NO_LAST_LOOK;
        m.go(last && m.memory(QUEUED) > 0 ? 0 : DONE);
      }
      case 4 -> {
        if (m.rmw()) {
          m.memory(SLEEPING, m.memory(SLEEPING) | 1 << me);
          m.go(variant == Variant.NO_LOOK_AFTER_ANNOUNCEMENT ? 6 : 5);
        }
      }
      case 5 -> {
        if (m.load(STOPPED) == 1) {
          m.go(8);
        } else {
          m.go(6);
        }
      }
      case 6 -> m.go(m.memory(QUEUED) > 0 ? 9 : 7);
      case 7 -> {
        if (m.load(PERMIT + me) == 0) {
          m.block();
        } else {
          m.memory(PERMIT + me, 0);
          m.go(0);
        }
      }
      case 8 -> {
        wake(m, WORKERS);
        m.go(7);
      }
      case 9 -> {
        wake(m, 1);
        m.go(7);
      }
      default -> throw new AssertionError();
    }
  }

  private static void wake(Checker.Machine m, int most) {
    for (int i = 0; i < most && m.memory(SLEEPING) != 0; i++) {
      int woken = Integer.numberOfTrailingZeros(m.memory(SLEEPING));
      m.memory(SLEEPING, m.memory(SLEEPING) & ~(1 << woken));
      m.memory(PERMIT + woken, 1);
    }
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(ACCEPTED) != m.memory(RUN)) {
      m.fail(m.memory(ACCEPTED) + " jobs accepted, " + m.memory(RUN) + " run");
    }
    for (int i = 0; i < WORKERS; i++) {
      if (m.get(i, 0) != DONE) {
        m.fail("worker " + i + " does not leave");
      }
    }
  }
}
