package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Notices tasks that run for long: asks them to end (`preemptAfter`) and reports them (`hangAfter`).
///
/// Tasks do not read the clock. Each tick looks at every thread that runs tasks: if it is running and has ended no task
/// since the last tick, that task is at least as old as that tick. Ticks are timers of the watcher, one every
/// `preemptAfter` while anyone works; while nobody does they get rarer, up to 16 times, so that an idle scheduler costs
/// next to nothing.
///
/// `watched` is guarded by this; the state of its entries belongs to the watcher's thread except what is volatile.
final class Watchdog {
  private static final int MAX_SLOWDOWN = 16;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private static final class Watched {
    final WeakReference<Runner> runner;
    final WeakReference<Thread> thread;
    long task = -1;
    long firstSeenNanos;
    long reportAfterNanos;
    volatile long runningNanos; // of the task seen at the last tick, for people
    volatile long longestNanos; // the most of that so far

    Watched(Runner runner, Thread thread) {
      this.runner = new WeakReference<>(runner);
      this.thread = new WeakReference<>(thread);
    }
  }

  private final TaskScheduler scheduler;
  private final long preemptNanos;
  private final long hangNanos;
  private final long periodNanos;
  private final List<Watched> watched = new ArrayList<>();
  private int slowdown = 1;

  Watchdog(TaskScheduler scheduler) {
    this.scheduler = scheduler;
    preemptNanos = scheduler.config().nanos(Parameter.PREEMPT_AFTER);
    hangNanos = scheduler.config().nanos(Parameter.HANG_AFTER);
    periodNanos = preemptNanos > 0 ? preemptNanos : Math.max(NANOS_PER_MILLI, hangNanos / 10);
  }

  void start() {
    if (preemptNanos > 0 || hangNanos > 0) {
      arm();
    }
  }

  /// Watches a runner until its thread has ended and nobody refers to it.
  synchronized void watch(Runner runner, Thread thread) {
    watched.removeIf(entry -> entry.runner.get() == null);
    watched.add(new Watched(runner, thread));
  }

  /// How long the task of a runner has been running, as of the last tick; 0 if none was.
  synchronized long runningNanos(Runner runner) {
    for (Watched entry : watched) {
      if (runner.equals(entry.runner.get())) {
        return entry.runningNanos;
      }
    }
    return 0;
  }

  /// The longest task of a runner so far, as of the ticks; 0 if none was seen by two of them.
  synchronized long longestNanos(Runner runner) {
    return watched.stream()
        .filter(entry -> runner.equals(entry.runner.get()))
        .mapToLong(entry -> entry.longestNanos)
        .max()
        .orElse(0);
  }

  /// Longest of [#runningNanos].
  synchronized long longestNanos() {
    return watched.stream().mapToLong(entry -> entry.runningNanos).max().orElse(0);
  }

  /// How long all workers have been running the tasks that they run now, at least; 0 if one of them runs none.
  synchronized long allBusyNanos() {
    return watched.stream()
        .filter(entry -> entry.runner.get() instanceof Worker)
        .mapToLong(entry -> entry.runningNanos)
        .min()
        .orElse(0);
  }

  /// Threads whose task has been running for longer than `hangAfter`.
  synchronized long hung() {
    return hangNanos == 0
        ? 0
        : watched.stream().filter(entry -> entry.runningNanos >= hangNanos).count();
  }

  private void arm() {
    scheduler.watcher().schedule(Duration.ofNanos(periodNanos * slowdown), this::tick);
  }

  private void tick() {
    try {
      scheduler.repairSignal();
      long now = Platform.nanoTime();
      List<Watched> entries;
      synchronized (this) {
        entries = List.copyOf(watched);
      }
      boolean busy = false;
      for (Watched entry : entries) {
        Runner runner = entry.runner.get();
        busy |= runner != null && look(entry, runner, now);
      }
      slowdown = busy ? 1 : Math.min(MAX_SLOWDOWN, 2 * slowdown);
    } finally {
      arm();
    }
  }

  private boolean look(Watched entry, Runner runner, long now) {
    long task = runner.runningTask();
    if (task < 0 || task != entry.task) {
      entry.task = task;
      entry.firstSeenNanos = now;
      entry.reportAfterNanos = hangNanos;
      entry.runningNanos = 0;
      return task >= 0;
    }
    long running = now - entry.firstSeenNanos;
    if (preemptNanos > 0 && running >= preemptNanos && entry.runningNanos < preemptNanos) {
      scheduler.count(Counters.PREEMPT_REQUESTED, 1, null); // first: who is asked may look
      runner.preempt(task);
    }
    entry.runningNanos = running;
    entry.longestNanos = Math.max(entry.longestNanos, running);
    if (hangNanos > 0 && running >= entry.reportAfterNanos) {
      entry.reportAfterNanos = 2 * running;
      scheduler.count(Counters.HANGS, 1, null);
      report(entry, runner, running);
    }
    return true;
  }

  private void report(Watched entry, Runner runner, long runningNanos) {
    Thread thread = entry.thread.get();
    Job job = runner.observedJob();
    LongTask report =
        new LongTask(
            thread == null ? "?" : thread.getName(),
            runner.workerIndex(),
            job == null ? 0 : job.id(),
            job == null ? "?" : job.name(),
            Duration.ofNanos(runningNanos),
            runner.observedCallback(),
            stack(thread));
    try {
      scheduler.config().onLongTask().accept(report);
    } catch (Throwable t) {
      scheduler.uncaught("onLongTask", t);
    }
  }

  private static List<StackTraceElement> stack(@Nullable Thread thread) {
    return thread == null ? List.of() : List.of(thread.getStackTrace());
  }
}
