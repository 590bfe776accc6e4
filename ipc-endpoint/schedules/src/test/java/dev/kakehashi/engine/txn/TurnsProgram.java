package dev.kakehashi.engine.txn;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.schedules.Points;
import dev.kakehashi.schedules.Program;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/// Two threads ask for turns of one transaction, which the scheduler's worker goes on with.
///
/// One operation at a time has its turn, every one gets it once, those of one thread in their order.
public final class TurnsProgram implements Program {
  private static final int OPERATIONS = 2;

  @Override
  public void run() throws Exception {
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(1).build());
    try {
      Turns turns = new Turns(scheduler);
      AtomicBoolean busy = new AtomicBoolean();
      List<Integer> done = Collections.synchronizedList(new ArrayList<>());
      CountDownLatch all = new CountDownLatch(2 * OPERATIONS);
      Program.together(
          () -> ask(turns, busy, done, all, 0), () -> ask(turns, busy, done, all, 10), all::await);
      check(done.indexOf(0) < done.indexOf(1) && done.indexOf(10) < done.indexOf(11), "" + done);
      check(turns.tryBegin(), "the turn was not given back");
    } finally {
      scheduler.close();
    }
  }

  private static void ask(
      Turns turns, AtomicBoolean busy, List<Integer> done, CountDownLatch all, int first) {
    for (int each = 0; each < OPERATIONS; each++) {
      int number = first + each;
      turns.begin(() -> {
        check(busy.compareAndSet(false, true), "two have their turn");
        Points.pause();
        done.add(number);
        check(busy.compareAndSet(true, false), "two had their turn");
        turns.end();
        all.countDown();
      });
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
