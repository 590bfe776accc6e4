package dev.kakehashi.scheduler.model;

/// The protocol of `Sleepers` with `Worker.idle` and `Worker.sleep`: a publisher makes two tasks that never end, so two
/// workers must both be got going. The stack under its lock is one step.
///
/// @param spawns whether the publisher is a worker that stores into its deque, and not a submitter with an RMW
/// @param variant what is wrong with it, or CORRECT
record IdleModel(boolean spawns, Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    NOBODY_RESCANS,
    ONLY_LAST_SEARCHER_RESCANS,
    FINDER_DOES_NOT_LOOK,
    /// A worker that has announced its sleep looks without a fence: refuted for a publication by a store only.
    SLEEPER_WITHOUT_FENCE,
    /// Likewise for the last searcher that has found work.
    FINDER_WITHOUT_FENCE
  }

  private static final int WORKERS = 2;
  private static final int TASKS = 2;
  private static final int PUBLISHED = 0;
  private static final int CONSUMED = 1;
  private static final int UNPARKED =
      2; // together with SEARCHING one word: always changed in one step
  private static final int SEARCHING = 3;
  private static final int SLEEPING = 4; // bit mask: the stack
  private static final int PERMIT = 5; // one word for each worker
  private static final int SLEEP = 8; // program counter
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
    return 3; // pc, searching, last searcher
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

  // UNPARKED counts sleepers here, so that all words can start as 0.
  private void publisher(Checker.Machine m) {
    int made = m.get(1);
    switch (m.get(0)) {
      case 0 -> {
        if (spawns) {
          m.store(PUBLISHED, made + 1);
        } else if (m.rmw()) {
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
    boolean searching = m.get(1) == 1;
    switch (m.get(0)) {
      case 0 -> m.go(take(m) ? DONE : 1);
      case 1 -> {
        if (m.rmw()) {
          boolean role = m.memory(SEARCHING) < 1;
          m.memory(SEARCHING, m.memory(SEARCHING) + (role ? 1 : 0));
          m.set(1, role ? 1 : 0);
          m.go(role ? 2 : 5);
        }
      }
      case 2 -> m.go(take(m) ? 10 : 5);
      case 5 -> {
        if (m.rmw()) {
          m.memory(SLEEPING, m.memory(SLEEPING) | 1 << me);
          m.memory(UNPARKED, m.memory(UNPARKED) + 1);
          m.memory(SEARCHING, m.memory(SEARCHING) - (searching ? 1 : 0));
          m.set(2, searching && m.memory(SEARCHING) == 0 ? 1 : 0);
          m.go(!rescans(m.get(2) == 1) ? SLEEP : fences(Variant.SLEEPER_WITHOUT_FENCE) ? 13 : 6);
        }
      }
      case 6 -> m.go(work(m) ? 7 : SLEEP);
      case 7 -> {
        wake(m); // looks again under the lock, as the real one does
        m.go(SLEEP);
      }
      case SLEEP -> {
        if (m.load(PERMIT + me) == 0) {
          m.block();
        } else {
          m.memory(PERMIT + me, 0);
          m.set(1, 1);
          m.go(2);
        }
      }
      case 10 -> {
        if (m.rmw()) {
          m.memory(SEARCHING, m.memory(SEARCHING) - 1);
          boolean looks = m.memory(SEARCHING) == 0 && m.memory(UNPARKED) > 0;
          m.go(
              !looks || variant == Variant.FINDER_DOES_NOT_LOOK
                  ? DONE
                  : fences(Variant.FINDER_WITHOUT_FENCE) ? 14 : 11);
        }
      }
      case 11 -> m.go(work(m) ? 12 : DONE);
      case 12 -> {
        wake(m);
        m.go(DONE);
      }
      case 13, 14 -> {
        if (m.fenced(WORKERS)) { // the other worker stores nothing
          m.go(m.get(0) == 13 ? 6 : 11);
        }
      }
      default -> throw new AssertionError();
    }
  }

  private boolean rescans(boolean last) {
    return switch (variant) {
      case NOBODY_RESCANS -> false;
      case ONLY_LAST_SEARCHER_RESCANS -> last;
      case CORRECT, FINDER_DOES_NOT_LOOK, SLEEPER_WITHOUT_FENCE, FINDER_WITHOUT_FENCE -> true;
    };
  }

  private boolean fences(Variant without) {
    return spawns && variant != without;
  }

  private static boolean take(Checker.Machine m) {
    boolean any = work(m);
    if (any) {
      m.memory(CONSUMED, m.memory(CONSUMED) + 1);
    }
    return any;
  }

  private static boolean work(Checker.Machine m) {
    return m.load(PUBLISHED) > m.load(CONSUMED);
  }

  private static boolean nobodyToWake(Checker.Machine m) {
    return m.load(SEARCHING) > 0 || m.load(UNPARKED) == 0;
  }

  private static void wake(Checker.Machine m) {
    if (!m.rmw() || nobodyToWake(m)) {
      return;
    }
    int woken = Integer.numberOfTrailingZeros(m.memory(SLEEPING));
    m.memory(SLEEPING, m.memory(SLEEPING) & ~(1 << woken));
    m.memory(UNPARKED, m.memory(UNPARKED) - 1);
    m.memory(SEARCHING, m.memory(SEARCHING) + 1);
    m.memory(PERMIT + woken, 1);
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(PUBLISHED) > m.memory(CONSUMED)) {
      m.fail("a task is queued beside a sleeping worker");
    }
  }
}
