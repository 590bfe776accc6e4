package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.schedules.Points;
import dev.kakehashi.schedules.Program;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/// Three transactions take two locks each, in the order of a circle.
///
/// A lock is held by one at a time. Nobody waits for ever: the circle is found by one of those who close it, and not by all. At the end
/// nobody waits and nothing is locked.
public final class LocksProgram implements Program {
  private static final int TRANSACTIONS = 3;

  @Override
  public void run() throws Exception {
    Deadlocks deadlocks = new Deadlocks();
    TableLocks locks = new TableLocks(deadlocks, _ -> false);
    AtomicIntegerArray holders = new AtomicIntegerArray(TRANSACTIONS);
    AtomicInteger refused = new AtomicInteger();
    Part[] parts = new Part[TRANSACTIONS];
    for (int each = 0; each < TRANSACTIONS; each++) {
      int number = each;
      parts[each] =
          () -> {
            TableLocks.Owner owner = new TableLocks.Owner(number + 1);
            int[] held = new int[TRANSACTIONS];
            try {
              for (int table : new int[] {number, (number + 1) % TRANSACTIONS}) {
                lock(locks, owner, table);
                check(holders.incrementAndGet(table) == 1, "two hold a lock");
                held[table] = 1;
              }
              Points.pause();
            } catch (EngineException e) {
              check(e.code() == ErrorCode.DEADLOCK_DETECTED, e.toString());
              refused.incrementAndGet();
            } finally {
              for (int table = 0; table < TRANSACTIONS; table++) {
                holders.addAndGet(table, -held[table]);
              }
              locks.releaseAll(owner);
            }
          };
    }
    Program.together(parts);
    check(refused.get() <= 1, refused + " of one circle were refused");
    check(deadlocks.list().isEmpty(), "somebody waits: " + deadlocks.list());
    check(locks.list().isEmpty(), "something is locked: " + locks.list());
  }

  private static void lock(TableLocks locks, TableLocks.Owner owner, int table)
      throws InterruptedException {
    TableLocks.Wait wait = locks.acquire(owner, table + 1L, TableLocks.Mode.EXCLUSIVE);
    if (wait == null) {
      return;
    }
    Semaphore news = new Semaphore(0);
    wait.onNews(news::release);
    while (!locks.isGranted(wait)) {
      news.acquire();
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
