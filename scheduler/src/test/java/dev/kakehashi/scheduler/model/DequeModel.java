package dev.kakehashi.scheduler.model;

/// The protocol of `StealHalfDeque` on a ring of four slots: an owner that runs a script, and thieves that take half.
/// Letters of the script: `p` push, `o` push at the old end, `l` pop newest, `m` the same and then take back the mark that the
/// deque is shared, `f` pop oldest. Items are numbered from 1 in order of their push; one that finds no free slot counts as
/// taken, as by the overflow queue.
///
/// @param script what the owner does
/// @param thieves threads that steal
/// @param steals steals of each
/// @param variant what is wrong with it, or CORRECT
record DequeModel(String script, int thieves, int steals, Variant variant)
    implements Checker.Program {
  enum Variant {
    CORRECT,
    /// The owner does not look whether a thief still reads the slot.
    SLOT_NOT_CHECKED,
    /// The thief copies the items and claims them afterwards.
    READ_BEFORE_CLAIM,
    /// The thief moves the head at once, and the owner pops while it sees more than one item.
    NAIVE_HALF,
    /// The thief looks at the new end without a fence after its claim.
    CLAIM_WITHOUT_FENCE,
    /// The owner looks at the claim without a fence although the deque is shared.
    SHARED_WITHOUT_FENCE,
    /// The thief takes what it has claimed, without a second look at the new end.
    NO_SECOND_LOOK,
    /// The owner takes a claimed item without canceling the claim.
    CLAIM_NOT_CANCELED
  }

  private static final int CAPACITY = 4;
  private static final int START = 8; // indices stay positive, also below the old end
  private static final int OLD = 0; // head | claimed << 8 | CANCELED | SHARED
  private static final int TAIL = 1;
  private static final int SLOT = 2;
  private static final int TAKEN = SLOT + CAPACITY; // ghost, how often each item was taken
  private static final int CANCELED = 1 << 16;
  private static final int SHARED = 1 << 17;
  private static final int DONE = 99;

  // Registers: pc, script position or steals done, old, tail, claimed, counter, items read (two of
  // at
  // most four)
  private static final int AT = 1;
  private static final int O = 2;
  private static final int T = 3;
  private static final int N = 4;
  private static final int I = 5;
  private static final int READ = 6;

  @Override
  public int words() {
    return TAKEN + 1 + script.length();
  }

  @Override
  public int threads() {
    return 1 + thieves;
  }

  @Override
  public int registers() {
    return READ + 2;
  }

  private static int head(int old) {
    return (byte) old + START;
  }

  private static int claimed(int old) {
    return old >> 8 & 0xFF;
  }

  private static boolean claim(int old) {
    return claimed(old) != 0 || (old & CANCELED) != 0;
  }

  private static int moved(int old, int head) {
    return (old & SHARED) | (claim(old) ? CANCELED : 0) | (head - START & 0xFF);
  }

  private static int tail(Checker.Machine m) {
    return m.load(TAIL) + START;
  }

  private static int slot(int index) {
    return SLOT + index % CAPACITY;
  }

  /// A CAS of `old` from what the thread has read; whether it succeeds. Only if [Checker.Machine#rmw()].
  private static boolean cas(Checker.Machine m, int expected, int next) {
    boolean same = m.memory(OLD) == expected;
    if (same) {
      m.memory(OLD, next);
    }
    return same;
  }

  private void taken(Checker.Machine m, int item) {
    if (item == 0) {
      m.fail("an empty slot was taken");
      return;
    }
    m.memory(TAKEN + item, m.memory(TAKEN + item) + 1);
    if (m.memory(TAKEN + item) > 1) {
      m.fail("item " + item + " was taken twice");
    }
  }

  @Override
  public void step(Checker.Machine m, int thread) {
    if (m.get(0) == DONE) {
      m.block();
    } else if (thread > 0) {
      thief(m);
    } else if (m.get(AT) == script.length()) {
      m.go(DONE);
    } else {
      switch (script.charAt(m.get(AT))) {
        case 'p' -> push(m, false);
        case 'o' -> push(m, true);
        case 'l', 'm' -> popNewest(m);
        case 'f' -> popOldest(m);
        default -> throw new AssertionError();
      }
    }
  }

  private int item(Checker.Machine m) {
    String before = script.substring(0, m.get(AT) + 1);
    return (int) before.chars().filter(c -> c == 'p' || c == 'o').count();
  }

  private static void nextInScript(Checker.Machine m) {
    m.set(AT, m.get(AT) + 1);
    m.go(0);
  }

  private void push(Checker.Machine m, boolean oldest) {
    int index = oldest ? head(m.get(O)) - 1 : m.get(T);
    switch (m.get(0)) {
      case 0 -> {
        m.set(O, m.load(OLD));
        m.set(T, tail(m));
        m.go(1);
      }
      case 1 -> {
        boolean room = m.get(T) - head(m.get(O)) < CAPACITY;
        boolean free = variant == Variant.SLOT_NOT_CHECKED ? room : m.load(slot(index)) == 0;
        if (free) {
          m.go(2);
        } else {
          taken(m, item(m));
          nextInScript(m);
        }
      }
      case 2 -> {
        m.store(slot(index), item(m));
        m.go(oldest ? 4 : 3);
      }
      case 3 -> {
        m.store(TAIL, index + 1 - START);
        nextInScript(m);
      }
      case 4 -> {
        if (m.rmw()) {
          if (cas(m, m.get(O), moved(m.get(O), index))) {
            nextInScript(m);
          } else {
            m.go(5);
          }
        }
      }
      case 5 -> {
        m.store(slot(index), 0);
        m.go(0);
      }
      default -> throw new AssertionError();
    }
  }

  private void popNewest(Checker.Machine m) {
    int index = m.get(T) - 1;
    int old = m.get(O);
    switch (m.get(0)) {
      case 0 -> {
        m.set(T, tail(m));
        if (m.get(T) - 1 < head(m.load(OLD))) {
          nextInScript(m);
        } else {
          m.go(1);
        }
      }
      case 1 -> {
        m.store(TAIL, index - START);
        m.go(2);
      }
      case 2 -> {
        m.set(O, m.load(OLD));
        if (variant == Variant.NAIVE_HALF) {
          // Near the old end it gives up this pop (models the slow path).
          m.go(head(m.get(O)) >= index ? 7 : 5);
        } else {
          boolean alone = m.get(O) == (m.get(O) & 0xFF) && index >= head(m.get(O));
          m.go(alone ? 5 : variant == Variant.SHARED_WITHOUT_FENCE ? 4 : 3);
        }
      }
      case 3 -> {
        if (m.rmw()) { // the full fence
          m.go(4);
        }
      }
      case 4 -> {
        m.set(O, m.load(OLD));
        if (index < head(m.get(O))) {
          m.go(7);
        } else if (index - head(m.get(O)) < claimed(m.get(O))) {
          m.go(variant == Variant.CLAIM_NOT_CANCELED ? 5 : 6);
        } else {
          boolean takesMarkBack = script.charAt(m.get(AT)) == 'm' && !claim(m.get(O));
          m.go(takesMarkBack ? 8 : 5);
        }
      }
      case 5 -> {
        taken(m, m.load(slot(index)));
        m.store(slot(index), 0);
        nextInScript(m);
      }
      case 6 -> {
        if (m.rmw()) {
          m.go(cas(m, old, moved(old, head(old))) ? 5 : 4);
        }
      }
      case 7 -> {
        m.store(TAIL, index + 1 - START);
        nextInScript(m);
      }
      case 8 -> {
        if (m.rmw()) {
          cas(m, old, old & 0xFF);
          m.go(5);
        }
      }
      default -> throw new AssertionError();
    }
  }

  private void popOldest(Checker.Machine m) {
    int index = head(m.get(O));
    switch (m.get(0)) {
      case 0 -> {
        m.set(T, tail(m));
        m.set(O, m.load(OLD));
        if (head(m.get(O)) == m.get(T)) {
          nextInScript(m);
        } else {
          m.go(1);
        }
      }
      case 1 -> {
        if (m.rmw()) {
          m.go(cas(m, m.get(O), moved(m.get(O), index + 1)) ? 2 : 0);
        }
      }
      case 2 -> {
        taken(m, m.load(slot(index)));
        m.store(slot(index), 0);
        nextInScript(m);
      }
      default -> throw new AssertionError();
    }
  }

  private void thief(Checker.Machine m) {
    int old = m.get(O);
    int claim = old | SHARED | m.get(N) << 8;
    boolean early = variant == Variant.READ_BEFORE_CLAIM;
    switch (m.get(0)) {
      case 0 -> {
        if (m.get(AT) == steals) {
          m.go(DONE);
          return;
        }
        m.set(AT, m.get(AT) + 1);
        m.set(O, m.load(OLD));
        m.set(I, 0);
        m.go(claim(m.get(O)) ? 0 : 1);
      }
      case 1 -> {
        m.set(N, (tail(m) - head(old) + 1) / 2);
        m.go(m.get(N) <= 0 ? 0 : early ? 9 : 2);
      }
      case 2 -> {
        if (m.rmw()) {
          if (variant == Variant.NAIVE_HALF) {
            m.go(cas(m, old, head(old) + m.get(N) - START & 0xFF) ? 6 : 0);
          } else if (cas(m, old, claim)) {
            boolean fence = (old & SHARED) == 0 && variant != Variant.CLAIM_WITHOUT_FENCE;
            m.go(fence ? 3 : 4);
          } else {
            m.go(0);
          }
        }
      }
      case 3 -> {
        if (m.fenced(0)) {
          m.go(4);
        }
      }
      case 4 -> {
        int left = variant == Variant.NO_SECOND_LOOK ? m.get(N) : tail(m) - head(old);
        m.set(T, Math.min(m.get(N), left));
        m.go(m.get(T) <= 0 ? 8 : 5);
      }
      case 5 -> {
        if (m.rmw()) {
          int next = SHARED | (head(old) + m.get(T) - START & 0xFF);
          m.set(I, 0);
          if (cas(m, claim, next)) {
            m.set(N, m.get(T));
            m.go(6);
          } else {
            m.go(8);
          }
        }
      }
      case 6 -> {
        if (m.get(I) == m.get(N)) {
          m.go(0);
          return;
        }
        taken(m, early ? m.get(READ + m.get(I)) : m.load(slot(head(old) + m.get(I))));
        m.go(7);
      }
      case 7 -> {
        m.store(slot(head(old) + m.get(I)), 0);
        m.set(I, m.get(I) + 1);
        m.go(6);
      }
      case 8 -> {
        if (m.rmw()) {
          m.memory(OLD, m.memory(OLD) & (SHARED | 0xFF));
          m.go(0);
        }
      }
      case 9 -> {
        m.set(READ + m.get(I), m.load(slot(head(old) + m.get(I))));
        m.set(I, m.get(I) + 1);
        m.go(m.get(I) == m.get(N) ? 2 : 9);
      }
      default -> throw new AssertionError();
    }
  }

  @Override
  public void end(Checker.Machine m) {
    int left = m.memory(TAIL) + START - head(m.memory(OLD));
    int items = (int) script.chars().filter(c -> c == 'p' || c == 'o').count();
    int ended = 0;
    for (int item = 1; item <= items; item++) {
      ended += m.memory(TAKEN + item);
    }
    if (left < 0 || ended + left != items) {
      m.fail(items + " items pushed, " + ended + " taken, " + left + " left");
    }
  }
}
