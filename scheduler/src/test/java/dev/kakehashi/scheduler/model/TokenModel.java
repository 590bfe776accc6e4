package dev.kakehashi.scheduler.model;

/// The token bucket as one word, the theoretical arrival time: three requesters and a clock. In any window of time no
/// more may start than the bucket and what flowed in meanwhile; a token that is there is not refused.
///
/// @param bucket tokens of a full bucket; one flows in with every tick
/// @param variant what is wrong with it, or CORRECT
record TokenModel(int bucket, Variant variant) implements Checker.Program {
  enum Variant {
    CORRECT,
    /// Load and store instead of CAS.
    WITHOUT_CAS,
    /// An idle bucket goes on filling.
    NEVER_FULL,
    /// A start that is refused has moved the time all the same.
    REFUSAL_COSTS
  }

  private static final int REQUESTERS = 3;
  private static final int TRIES = 2;
  private static final int TICKS = 3;
  private static final int NOW = 0;
  private static final int TAT = 1; // theoretical arrival time, in ticks
  private static final int STARTS = 2; // ghost, for each tick
  private static final int DONE = 99;

  @Override
  public int words() {
    return STARTS + TICKS + 1;
  }

  @Override
  public int threads() {
    return REQUESTERS + 1;
  }

  @Override
  public int registers() {
    return 4; // pc, now, tat, tries
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread == REQUESTERS) {
      m.memory(NOW, m.memory(NOW) + 1);
      m.go(m.memory(NOW) == TICKS ? DONE : 0);
    } else {
      request(m);
    }
  }

  private void request(Checker.Machine m) {
    switch (m.get(0)) {
      case 0 -> {
        m.set(1, m.load(NOW));
        m.go(1);
      }
      case 1 -> {
        m.set(2, m.load(TAT));
        m.go(2);
      }
      case 2 -> {
        int now = m.get(1);
        int tat = m.get(2);
        int next = (variant == Variant.NEVER_FULL ? tat : Math.max(tat, now)) + 1;
        boolean start = next - now <= bucket;
        boolean move = start || variant == Variant.REFUSAL_COSTS;
        if (move && variant != Variant.WITHOUT_CAS && m.memory(TAT) != tat) {
          m.go(1);
          return;
        }
        if (move) {
          m.memory(TAT, next);
        }
        if (start) {
          m.memory(STARTS + now, m.memory(STARTS + now) + 1);
          check(m);
        }
        m.set(3, m.get(3) + 1);
        m.go(start || m.get(3) == TRIES ? DONE : 0);
      }
      default -> throw new AssertionError();
    }
  }

  private void check(Checker.Machine m) {
    for (int from = 0; from <= TICKS; from++) {
      int starts = 0;
      for (int to = from; to <= TICKS; to++) {
        starts += m.memory(STARTS + to);
        if (starts > bucket + to - from) {
          m.fail(starts + " starts from tick " + from + " to " + to);
        }
      }
    }
  }

  @Override
  public void end(Checker.Machine m) {
    int starts = 0;
    for (int tick = 0; tick <= TICKS; tick++) {
      starts += m.memory(STARTS + tick);
    }
    if (starts < Math.min(REQUESTERS, bucket)) {
      m.fail("only " + starts + " starts from a full bucket of " + bucket);
    }
    if (m.memory(TAT) > TICKS + bucket) {
      m.fail("more is taken than flows in");
    }
  }
}
