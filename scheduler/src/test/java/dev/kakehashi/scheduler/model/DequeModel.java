package dev.kakehashi.scheduler.model;

/// The protocol of `PackedDeque` on a ring of four slots: an owner that runs a script, and thieves that take half.
/// Letters of the script: `p` push, `o` push at the old end, `l` pop newest, `f` pop oldest. Items are numbered from 1 in order
/// of their push; one that finds no free slot counts as taken, as by the overflow queue.
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
    /// Two words; the owner pops without CAS while it sees more than one item; the thief takes half by one CAS.
    NAIVE_HALF
  }

  private static final int CAPACITY = 4;
  private static final int START = 8; // indices stay positive, also below the old end
  private static final int HEAD = 0; // with TAIL one word, except in NAIVE_HALF
  private static final int TAIL = 1;
  private static final int SLOT = 2;
  private static final int TAKEN = SLOT + CAPACITY; // ghost, how often each item was taken
  private static final int DONE = 99;

  // Registers: pc, script position or steals done, head, tail, counter, items read (two of at most
  // four)
  private static final int AT = 1;
  private static final int H = 2;
  private static final int T = 3;
  private static final int I = 4;
  private static final int READ = 5;

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

  private static int head(Checker.Machine m) {
    return m.load(HEAD) + START;
  }

  private static int tail(Checker.Machine m) {
    return m.load(TAIL) + START;
  }

  private static int slot(int index) {
    return SLOT + index % CAPACITY;
  }

  private static void ends(Checker.Machine m, int head, int tail) {
    m.memory(HEAD, head - START);
    m.memory(TAIL, tail - START);
  }

  private static boolean unchanged(Checker.Machine m) {
    return m.memory(HEAD) + START == m.get(H) && m.memory(TAIL) + START == m.get(T);
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
        case 'l' -> pop(m, true);
        case 'f' -> pop(m, false);
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
    int index = oldest ? m.get(H) - 1 : m.get(T);
    switch (m.get(0)) {
      case 0 -> {
        m.set(H, head(m));
        m.set(T, tail(m));
        m.go(1);
      }
      case 1 -> {
        boolean room = m.get(T) - m.get(H) < CAPACITY;
        boolean free = variant == Variant.SLOT_NOT_CHECKED || m.load(slot(index)) == 0;
        if (room && free) {
          m.go(2);
        } else {
          taken(m, item(m));
          nextInScript(m);
        }
      }
      case 2 -> {
        m.store(slot(index), item(m));
        m.go(3);
      }
      case 3 -> {
        if (m.rmw()) {
          if (!oldest) {
            m.memory(TAIL, m.memory(TAIL) + 1);
            nextInScript(m);
          } else if (unchanged(m)) {
            ends(m, index, m.get(T));
            nextInScript(m);
          } else {
            m.go(4);
          }
        }
      }
      case 4 -> {
        m.store(slot(index), 0);
        m.go(0);
      }
      default -> throw new AssertionError();
    }
  }

  private void pop(Checker.Machine m, boolean newest) {
    int index = newest ? m.get(T) - 1 : m.get(H);
    switch (m.get(0)) {
      case 0 -> {
        m.set(H, head(m));
        m.set(T, tail(m));
        if (m.get(H) >= m.get(T)) {
          nextInScript(m);
        } else {
          m.go(1);
        }
      }
      case 1 -> {
        if (m.rmw()) {
          boolean naive = variant == Variant.NAIVE_HALF && m.get(T) - m.get(H) > 1;
          if (naive) {
            m.memory(TAIL, index - START);
            m.go(3);
          } else if (unchanged(m)) {
            ends(m, newest ? m.get(H) : m.get(H) + 1, newest ? index : m.get(T));
            m.go(2);
          } else {
            m.go(0);
          }
        }
      }
      case 2 -> {
        taken(m, m.load(slot(index)));
        m.store(slot(index), 0);
        nextInScript(m);
      }
      case 3 -> { // Chase and Lev: look at the old end after having moved the new one
        if (head(m) >= m.get(T) - 1) {
          m.memory(
              TAIL, m.get(T) - START); // a thief is near: give up this pop (models its slow path)
          nextInScript(m);
        } else {
          m.go(2);
        }
      }
      default -> throw new AssertionError();
    }
  }

  private void thief(Checker.Machine m) {
    int n = (m.get(T) - m.get(H) + 1) / 2;
    boolean early = variant == Variant.READ_BEFORE_CLAIM;
    switch (m.get(0)) {
      case 0 -> {
        if (m.get(AT) == steals) {
          m.go(DONE);
          return;
        }
        m.set(AT, m.get(AT) + 1);
        m.set(H, head(m));
        m.set(T, tail(m));
        m.set(I, 0);
        m.go(m.get(T) <= m.get(H) ? 0 : early ? 4 : 1);
      }
      case 1 -> {
        if (m.rmw()) {
          boolean same =
              variant == Variant.NAIVE_HALF ? m.memory(HEAD) + START == m.get(H) : unchanged(m);
          if (same) {
            m.memory(HEAD, m.get(H) + n - START);
          }
          m.set(I, 0);
          m.go(same ? 2 : 0);
        }
      }
      case 2 -> {
        if (m.get(I) == n) {
          m.go(0);
          return;
        }
        taken(m, early ? m.get(READ + m.get(I)) : m.load(slot(m.get(H) + m.get(I))));
        m.go(3);
      }
      case 3 -> {
        m.store(slot(m.get(H) + m.get(I)), 0);
        m.set(I, m.get(I) + 1);
        m.go(2);
      }
      case 4 -> {
        m.set(READ + m.get(I), m.load(slot(m.get(H) + m.get(I))));
        m.set(I, m.get(I) + 1);
        m.go(m.get(I) == n ? 1 : 4);
      }
      default -> throw new AssertionError();
    }
  }

  @Override
  public void end(Checker.Machine m) {
    int left = m.memory(TAIL) - m.memory(HEAD);
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
