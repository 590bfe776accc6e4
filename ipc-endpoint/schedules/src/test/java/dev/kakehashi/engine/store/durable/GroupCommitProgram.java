package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.store.durable.GroupCommit.Pending;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.ProgramLog;
import dev.kakehashi.schedules.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/// Three threads commit: one whose thread may be lent for a flush, one that waits for the durability thread, one that does not wait for the
/// disk.
///
/// A client that is told that a commit is stored finds it in the log. The log has all records once, in the order in which they were
/// queued, and one thread at a time writes it.
public final class GroupCommitProgram implements Program {
  private static final ThreadLocal<List<Runnable>> LENT = new ThreadLocal<>();

  private record Commit(
      ProgramLog log, GroupCommit group, ReentrantLock order, List<Integer> queued) {
    void run(int bytes, boolean stored, List<Runnable> deferred) throws InterruptedException {
      LogRecord record = new LogRecord(bytes);
      record.putBytes(new byte[bytes]);
      CountDownLatch told = new CountDownLatch(1);
      Pending pending;
      order.lock();
      try {
        pending =
            group.enqueue(
                record,
                bytes,
                stored,
                failure -> {
                  check(failure == null, "refused: " + failure);
                  check(!stored || log.lengths().contains(bytes), "told before it is durable");
                  told.countDown();
                });
        queued.add(bytes);
      } finally {
        order.unlock();
      }
      group.finished(pending);
      deferred.forEach(Runnable::run);
      told.await();
      check(!stored || group.durable() >= pending.number, "durable is behind");
    }
  }

  @Override
  public void run() throws Exception {
    ProgramLog log = new ProgramLog(null);
    List<Integer> queued = new ArrayList<>();
    try (GroupCommit group = new GroupCommit(log)) {
      group.blockingExecutor(new Lending());
      Commit commit = new Commit(log, group, new ReentrantLock(), queued);
      Program.together(
          () -> {
            List<Runnable> mine = new ArrayList<>();
            LENT.set(mine);
            commit.run(1, true, mine);
            mine.clear();
            commit.run(2, true, mine);
          },
          () -> {
            commit.run(3, true, List.of());
            commit.run(4, true, List.of());
          },
          () -> commit.run(5, false, List.of()));
    }
    check(log.lengths().equals(queued), "queued " + queued + ", written " + log.lengths());
  }

  /// Lends a thread that has a list for what it is to flush.
  private static final class Lending implements BlockingExecutor {
    @Override
    public boolean tryDefer(Runnable work) {
      List<Runnable> mine = LENT.get();
      return mine != null && mine.add(work);
    }

    @Override
    public boolean unblocked() {
      return false;
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
