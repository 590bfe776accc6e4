package dev.kakehashi.scheduler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Reads a scheduler for people and monitors: sizes, states and counters only, no queue is touched. Thread-safe.
final class Status {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final TaskScheduler scheduler;
  private final CounterSum counters;
  private final Sleepers sleepers;
  private final Watchdog watchdog;

  Status(TaskScheduler scheduler, CounterSum counters, Sleepers sleepers, Watchdog watchdog) {
    this.scheduler = scheduler;
    this.counters = counters;
    this.sleepers = sleepers;
    this.watchdog = watchdog;
  }

  SchedulerMetrics metrics() {
    Worker[] workers = scheduler.workers();
    long local = 0;
    long pinned = 0;
    List<long[]> perWorker = new ArrayList<>();
    for (int i = 0; i < workers.length; i++) {
      local += workers[i].deque.size();
      pinned += workers[i].pinned.size();
      perWorker.add(counters.worker(i));
    }
    long inbox = 0;
    for (Inbox one : scheduler.inboxes()) {
      inbox += one.size();
    }
    Map<String, Long> gauges = new HashMap<>();
    gauges.put("queue.local", local);
    gauges.put("queue.pinned", pinned);
    gauges.put("queue.inbox", inbox);
    gauges.put("queue.overflow", (long) scheduler.overflow().size());
    gauges.put("workers.awake", (long) sleepers.awake());
    gauges.put("workers.searching", (long) sleepers.searching());
    gauges.put("workers.hung", watchdog.hung());
    gauges.put("tasks.longestRunningNanos", watchdog.longestNanos());
    gauges.put("jobs.live", (long) scheduler.registry().live().size());
    gauges.put("process.live", (long) scheduler.processes().count());
    counters.latencies().putInto(gauges);
    return new SchedulerMetrics(scheduler.counterTotals(), perWorker, gauges);
  }

  void dump(Appendable out) throws IOException {
    out.append(metrics().toJson()).append('\n');
    for (Worker worker : scheduler.workers()) {
      out.append(worker.thread.getName())
          .append(" queued=")
          .append(Integer.toString(worker.deque.size()))
          .append(" thread=")
          .append(worker.thread.getState().toString())
          .append(running(worker))
          .append('\n');
    }
    for (Job job : scheduler.registry().live()) {
      Job.Times times = job.times();
      out.append(job.toString())
          .append(' ')
          .append(job.progress().toString())
          .append(times == null ? "" : " " + times)
          .append('\n');
    }
    for (Processes.Info process : scheduler.processes().list()) {
      out.append(process.toString()).append('\n');
    }
  }

  private String running(Runner runner) {
    long nanos = watchdog.runningNanos(runner);
    Job job = runner.observedJob();
    return nanos == 0 || job == null ? "" : " running=" + nanos / NANOS_PER_MILLI + "ms " + job;
  }
}
