package dev.kakehashi.scheduler.model;

/// The count of `Job` with the credits of `Runner`: a bootstrap task spawns two children, two runners take tasks from one
/// queue, and a hold is open for a while. A runner that needs a count takes one more in advance; an ended task leaves
/// its count behind; counts are returned when there is nothing to do.
///
/// @param variant what is wrong with it, or CORRECT
record JobCountModel(Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// The child is queued before it is counted.
    SPAWN_BEFORE_COUNT,
    /// A runner that finds nothing to do keeps its credits.
    CREDITS_KEPT,
    /// Counts are returned by load and store.
    RETURN_WITHOUT_RMW,
    /// The count is looked at after it was changed, instead of with the change.
    ZERO_SEEN_BY_LOAD
  }

  private static final int RUNNERS = 2;
  private static final int CHILDREN = 2;
  private static final int CREDITS = 1; // taken in advance
  private static final int RETURNED =
      0; // counts that came back minus those taken; 2 are there at first
  private static final int QUEUED = 1; // children
  private static final int ENDED = 2; // ghost: tasks that have ended
  private static final int DONE_TIMES = 3; // ghost: completions
  private static final int COUNTS_AT_FIRST = 2; // bootstrap and hold
  private static final int DONE = 99;

  // Registers
  private static final int CREDIT = 1;
  private static final int SPAWNED = 2;
  private static final int KEPT = 3;

  @Override
  public int words() {
    return 4;
  }

  @Override
  public int threads() {
    return RUNNERS + 1;
  }

  @Override
  public int registers() {
    return 4;
  }

  private static int pending(Checker.Machine m) {
    return COUNTS_AT_FIRST - m.memory(RETURNED);
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread == RUNNERS) {
      give(m, 1, DONE); // the hold
    } else if (m.get(0) < 10) {
      run(m, thread);
    } else {
      give(m, m.get(CREDIT), 30);
    }
  }

  private void run(Checker.Machine m, int thread) {
    switch (m.get(0)) {
      case 0 -> m.go(thread == 0 ? 1 : 3); // runner 0 has the bootstrap task
      case 1 -> {
        if (m.get(SPAWNED) == CHILDREN) {
          m.go(5);
        } else if (variant == Variant.SPAWN_BEFORE_COUNT) {
          m.memory(QUEUED, m.memory(QUEUED) + 1);
          m.go(2);
        } else {
          count(m);
          m.go(2);
        }
      }
      case 2 -> {
        if (variant == Variant.SPAWN_BEFORE_COUNT) {
          count(m);
        } else {
          m.memory(QUEUED, m.memory(QUEUED) + 1);
        }
        m.set(SPAWNED, m.get(SPAWNED) + 1);
        m.go(1);
      }
      case 3 -> {
        if (m.memory(QUEUED) > 0) {
          m.memory(QUEUED, m.memory(QUEUED) - 1);
          m.go(5);
        } else if (m.get(CREDIT) > 0 && variant != Variant.CREDITS_KEPT) {
          m.go(10);
        } else {
          m.block();
        }
      }
      case 5 -> {
        if (m.memory(DONE_TIMES) > 0) {
          m.fail("a task of a job that has ended");
        }
        m.memory(ENDED, m.memory(ENDED) + 1);
        m.set(CREDIT, m.get(CREDIT) + 1);
        m.go(3);
      }
      default -> throw new AssertionError();
    }
  }

  private static void count(Checker.Machine m) {
    if (m.get(CREDIT) < 1) {
      m.memory(RETURNED, m.memory(RETURNED) - 1 - CREDITS);
      m.set(CREDIT, m.get(CREDIT) + 1 + CREDITS);
    }
    m.set(CREDIT, m.get(CREDIT) - 1);
  }

  /// Returns counts; the one that makes it zero completes.
  private void give(Checker.Machine m, int counts, int then) {
    switch (m.get(0)) {
      case 0, 10 -> {
        if (variant == Variant.RETURN_WITHOUT_RMW) {
          m.set(KEPT, m.load(RETURNED));
          m.go(11);
          return;
        }
        m.memory(RETURNED, m.memory(RETURNED) + counts);
        if (variant == Variant.ZERO_SEEN_BY_LOAD) {
          m.go(12);
        } else {
          complete(m, pending(m) == 0, then);
        }
      }
      case 11 -> {
        m.memory(RETURNED, m.get(KEPT) + counts);
        complete(m, COUNTS_AT_FIRST - m.get(KEPT) - counts == 0, then);
      }
      case 12 -> complete(m, pending(m) == 0, then);
      case 30 -> m.go(3);
      default -> throw new AssertionError();
    }
  }

  private static void complete(Checker.Machine m, boolean last, int then) {
    if (last) {
      m.memory(DONE_TIMES, m.memory(DONE_TIMES) + 1);
      if (m.memory(ENDED) != 1 + CHILDREN) {
        m.fail("the job ended before its tasks");
      } else if (m.memory(DONE_TIMES) > 1) {
        m.fail("the job ended twice");
      }
    }
    m.set(CREDIT, 0);
    m.go(then);
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(DONE_TIMES) != 1) {
      m.fail("the job has not ended");
    }
  }
}
