package dev.kakehashi.scheduler.model;

/// The protocol of `Lane`: two submitters with two items each, a caller that enters only if the lane is free, and
/// two workers that run the lane's task when it is queued. Offering and counting are one step because they share a lock.
///
/// @param permits most items at once
/// @param batch items that a lane task runs
/// @param variant what is wrong with it, or CORRECT
record LaneModel(int permits, int batch, Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// The permit is given back before the items are counted off.
    PERMIT_BEFORE_COUNT,
    /// A flag instead of counts: set by the submitter, cleared after draining.
    FLAG
  }

  private static final int ITEMS_EACH = 2;
  private static final int ITEMS = 0;
  private static final int ACTIVE = 1; // with PENDING one word
  private static final int PENDING = 2;
  private static final int READY = 3; // queued lane tasks
  private static final int INSIDE = 4; // ghost
  private static final int RUN = 5; // ghost
  private static final int CALLER = 2; // thread; 0 and 1 submit, 3 and 4 work
  private static final int DONE = 99;

  @Override
  public int words() {
    return 6;
  }

  @Override
  public int threads() {
    return 5;
  }

  @Override
  public int registers() {
    return 4; // pc, items ended, items left in the batch, loop
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread < CALLER) {
      submit(m);
    } else if (thread == CALLER) {
      call(m);
    } else {
      work(m);
    }
  }

  private void submit(Checker.Machine m) {
    m.memory(ITEMS, m.memory(ITEMS) + 1);
    boolean take;
    if (variant == Variant.FLAG) {
      take = m.memory(ACTIVE) == 0;
    } else {
      m.memory(PENDING, m.memory(PENDING) + 1);
      take = m.memory(ACTIVE) < permits && m.memory(PENDING) > m.memory(ACTIVE);
    }
    if (take) {
      m.memory(ACTIVE, m.memory(ACTIVE) + 1);
      m.memory(READY, m.memory(READY) + 1);
    }
    m.set(1, m.get(1) + 1);
    m.go(m.get(1) == ITEMS_EACH ? DONE : 0);
  }

  private void call(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        int active = m.memory(ACTIVE);
        if (variant == Variant.FLAG || active >= permits || m.memory(PENDING) != active) {
          m.go(DONE);
          return;
        }
        m.memory(ACTIVE, active + 1);
        m.memory(PENDING, active + 1);
        m.go(1);
      }
      case 1 -> {
        enter(m);
        m.go(2);
      }
      case 2 -> {
        m.memory(INSIDE, m.memory(INSIDE) - 1);
        m.set(1, 1);
        m.go(3);
      }
      case 3 -> release(m, DONE);
      case 4 -> countOff(m, DONE);
      default -> throw new AssertionError();
    }
  }

  private void work(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        if (m.memory(READY) == 0) {
          m.block();
          return;
        }
        m.memory(READY, m.memory(READY) - 1);
        m.set(1, 0);
        m.set(2, batch);
        m.go(1);
      }
      case 1 -> {
        if (m.get(2) == 0 || m.memory(ITEMS) == 0) {
          m.go(3);
          return;
        }
        m.memory(ITEMS, m.memory(ITEMS) - 1);
        m.memory(RUN, m.memory(RUN) + 1);
        m.set(2, m.get(2) - 1);
        enter(m);
        m.go(2);
      }
      case 2 -> {
        m.memory(INSIDE, m.memory(INSIDE) - 1);
        if (permits > 1 && m.get(2) > 0) {
          m.memory(PENDING, m.memory(PENDING) - 1); // stands in one step for the RMW that follows
        } else {
          m.set(1, m.get(1) + 1);
        }
        m.go(1);
      }
      case 3 -> release(m, 0);
      case 4 -> countOff(m, 0);
      default -> throw new AssertionError();
    }
  }

  private void enter(Checker.Machine m) {
    m.memory(INSIDE, m.memory(INSIDE) + 1);
    if (m.memory(INSIDE) > permits) {
      m.fail("more items at once than permits");
    }
  }

  private void release(Checker.Machine m, int then) {
    switch (variant) {
      case CORRECT -> {
        int pending = m.memory(PENDING) - m.get(1);
        boolean keep = pending >= m.memory(ACTIVE);
        m.memory(PENDING, pending);
        if (keep) {
          m.memory(READY, m.memory(READY) + 1);
        } else {
          m.memory(ACTIVE, m.memory(ACTIVE) - 1);
        }
        m.go(then);
      }
      case PERMIT_BEFORE_COUNT -> {
        m.memory(ACTIVE, m.memory(ACTIVE) - 1);
        m.go(4);
      }
      case FLAG -> {
        m.memory(ACTIVE, 0);
        m.go(then);
      }
    }
  }

  private static void countOff(Checker.Machine m, int then) {
    m.memory(PENDING, m.memory(PENDING) - m.get(1));
    m.go(then);
  }

  @Override
  public void end(Checker.Machine m) {
    if (m.memory(RUN) != 2 * ITEMS_EACH || m.memory(ITEMS) != 0) {
      m.fail("an item is left in the lane");
    } else if (variant == Variant.CORRECT && m.memory(ACTIVE) + m.memory(PENDING) != 0) {
      m.fail("counts are left in the lane");
    }
  }
}
