package dev.kakehashi.scheduler.model;

/// The protocol of `EventCount`: two threads wait for a flag that a third one sets.
///
/// @param variant what is wrong with it, or CORRECT
record EventCountModel(Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// The notifier's store may come after its look at the waiters.
    NO_FENCE,
    /// The notifier wakes those on the list and does not move the epoch.
    NO_EPOCH,
    /// The waiter looks before it has counted itself.
    LOOK_BEFORE_PREPARE
  }

  private static final int WAITERS = 2;
  private static final int FLAG = 0;
  private static final int EPOCH = 1; // with WAITING one word
  private static final int WAITING = 2;
  private static final int LISTED = 3; // bit mask, under the lock
  private static final int PERMIT = 4; // one word for each waiter
  private static final int DONE = 99;

  @Override
  public int words() {
    return PERMIT + WAITERS;
  }

  @Override
  public int threads() {
    return WAITERS + 1;
  }

  @Override
  public int registers() {
    return 2; // pc, key
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread == WAITERS) {
      notifier(m);
    } else {
      waiter(m, thread);
    }
  }

  private void waiter(Checker.Machine m, int me) {
    switch (m.get(0)) {
      case 0 -> m.go(variant == Variant.LOOK_BEFORE_PREPARE ? 1 : 2);
      case 1 -> m.go(m.load(FLAG) == 1 ? DONE : 2);
      case 2 -> {
        if (m.rmw()) {
          m.set(1, m.memory(EPOCH));
          m.memory(WAITING, m.memory(WAITING) + 1);
          m.go(variant == Variant.LOOK_BEFORE_PREPARE ? 4 : 3);
        }
      }
      case 3 -> m.go(m.load(FLAG) == 1 ? 7 : 4);
      case 4 -> { // under the lock
        m.memory(LISTED, m.memory(LISTED) | 1 << me);
        m.go(5);
      }
      case 5 -> m.go(m.load(EPOCH) != m.get(1) ? 7 : 6);
      case 6 -> {
        if (m.load(PERMIT + me) == 0) {
          m.block();
        } else {
          m.memory(PERMIT + me, 0);
          m.go(5);
        }
      }
      case 7 -> {
        if (m.rmw()) {
          m.memory(LISTED, m.memory(LISTED) & ~(1 << me));
          m.memory(WAITING, m.memory(WAITING) - 1);
          m.go(DONE);
        }
      }
      default -> throw new AssertionError();
    }
  }

  private void notifier(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        m.store(FLAG, 1);
        m.go(variant == Variant.NO_FENCE ? 2 : 1);
      }
      case 1 -> {
        if (m.rmw()) { // a fence
          m.go(2);
        }
      }
      case 2 -> m.go(m.load(WAITING) == 0 ? DONE : variant == Variant.NO_EPOCH ? 4 : 3);
      case 3 -> {
        if (m.rmw()) {
          m.memory(EPOCH, m.memory(EPOCH) + 1);
          m.go(4);
        }
      }
      case 4 -> { // under the lock
        for (int i = 0; i < WAITERS; i++) {
          if ((m.memory(LISTED) & 1 << i) != 0) {
            m.memory(PERMIT + i, 1);
          }
        }
        m.go(DONE);
      }
      default -> throw new AssertionError();
    }
  }

  @Override
  public void end(Checker.Machine m) {
    for (int i = 0; i < WAITERS; i++) {
      if (m.get(i, 0) != DONE) {
        m.fail("waiter " + i + " sleeps although the flag is set");
      }
    }
  }
}
