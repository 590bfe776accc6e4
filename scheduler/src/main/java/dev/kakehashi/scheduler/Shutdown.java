package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The orderly end of a scheduler, see [TaskScheduler#shutdown(Duration)]. Thread-safe; the first call does the work,
/// the others wait for it.
final class Shutdown {
  // How long a shutdown waits for canceled jobs, then for jobs whose holds were dropped, then for
  // each of the workers, twice: canceled work has nothing left to do but to look at its flag. Less
  // than seconds would report a worker as stuck that a busy machine keeps from doing that.
  private static final Duration AFTER_CANCEL = Duration.ofSeconds(3);

  private final TaskScheduler scheduler;
  private final AtomicReference<@Nullable FutureTask<ShutdownReport>> first =
      new AtomicReference<>();

  Shutdown(TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  ShutdownReport run(Duration grace) {
    scheduler.refuseJobless();
    scheduler.registry().close();
    FutureTask<ShutdownReport> mine = new FutureTask<>(() -> stop(grace));
    FutureTask<ShutdownReport> earlier = first.compareAndExchange(null, mine);
    if (scheduler.submission().currentRunner() != null) {
      if (earlier == null) {
        Thread background = new Thread(mine, scheduler.config().threadNamePrefix() + "-shutdown");
        background.setDaemon(true);
        Platform.start(background);
      }
      return report(0, List.of());
    }
    if (earlier == null) {
      mine.run();
    }
    return await(earlier == null ? mine : earlier);
  }

  private static ShutdownReport await(FutureTask<ShutdownReport> future) {
    boolean interrupted = false;
    try {
      for (; ; ) {
        try {
          return future.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          if (e.getCause() instanceof Error error) {
            throw error;
          }
          throw new IllegalStateException("shutdown of the scheduler failed", e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private ShutdownReport stop(Duration grace) throws InterruptedException {
    JobRegistry registry = scheduler.registry();
    scheduler.parts().forEach(SchedulerPart::cancelAll);
    for (Job job : registry.live()) {
      if (job.waitsForTimer()) {
        job.cancel();
      }
    }
    int canceled = 0;
    if (!registry.awaitEmpty(grace)) {
      scheduler.discardJobless();
      for (Job job : registry.live()) {
        canceled += job.cancel() ? 1 : 0;
      }
      if (!registry.awaitEmpty(AFTER_CANCEL)) {
        long held = registry.live().stream().filter(Job::dropHolds).count();
        if (held > 0) {
          registry.awaitEmpty(AFTER_CANCEL);
        }
      }
    }
    scheduler.stopWorkers();
    List<String> stuck = new ArrayList<>();
    for (Worker worker : scheduler.workers()) {
      if (!join(worker)) {
        String stack = Arrays.toString(worker.thread().getStackTrace());
        worker.thread().interrupt();
        if (!join(worker)) {
          stuck.add(worker.thread().getName() + " " + stack);
        }
      }
    }
    scheduler.watcher().stop();
    ShutdownReport report = report(canceled, stuck);
    if (Checks.ON && stuck.isEmpty() && registry.live().isEmpty()) {
      checkNothingIsLeft(report);
    }
    return report;
  }

  private void checkNothingIsLeft(ShutdownReport report) {
    Checks.that(report.left() == 0, "I13: accepted = run + discarded, " + report);
    Checks.that(!scheduler.anyWork(), "I1: a task is left in a queue");
    for (Worker worker : scheduler.workers()) {
      Checks.that(worker.deque.keepsNothingElse(), "I10: a deque keeps what it has given");
    }
  }

  private static boolean join(Worker worker) throws InterruptedException {
    for (; ; ) {
      WorkerThread thread = worker.thread();
      if (!thread.begun()) {
        Platform.pause(); // it is about to, or cannot start and is given up for another one
        continue;
      }
      if (!Platform.join(thread, AFTER_CANCEL.toNanos())) {
        return false;
      }
      if (thread.equals(worker.thread())) {
        return true; // otherwise another thread has taken the worker over
      }
    }
  }

  private ShutdownReport report(int canceled, List<String> stuck) {
    long[] sums = scheduler.counterTotals();
    long ended = sums[Counters.TASKS_RUN] + sums[Counters.TASKS_DISCARDED];
    return new ShutdownReport(
        sums[Counters.ACCEPTED],
        sums[Counters.TASKS_RUN],
        sums[Counters.TASKS_DISCARDED],
        sums[Counters.ACCEPTED] - ended,
        canceled,
        stuck);
  }
}
