package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.CounterSum;
import dev.kakehashi.scheduler.metrics.Latencies;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads a scheduler for people and monitors: sizes, states and counters only, no queue is touched. Thread-safe.
final class Status {
  private static final int SHOWN_NAME_CHARS = 1000;
  private static final Pattern SPACE = Pattern.compile("[\\p{Cntrl}\\s]+");

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
    List<Map<String, Long>> perWorker = new ArrayList<>();
    for (Worker worker : scheduler.workers()) {
      perWorker.add(
          SchedulerMetrics.named(counters.worker(worker.workerIndex()), workerGauges(worker)));
    }
    Map<String, Long> gauges = new HashMap<>();
    for (String queue : List.of("queue.local", "queue.pinned", "queue.inbox")) {
      gauges.put(queue, perWorker.stream().mapToLong(worker -> number(worker, queue)).sum());
    }
    gauges.put("queue.overflow", (long) scheduler.overflow().size());
    gauges.put("workers.awake", (long) sleepers.awake());
    gauges.put("workers.searching", (long) sleepers.searching());
    gauges.put("workers.hung", watchdog.hung());
    gauges.put("tasks.longestRunningNanos", watchdog.longestNanos());
    gauges.put("jobs.live", (long) scheduler.registry().live().size());
    gauges.put("process.live", scheduler.parts().stream().mapToLong(SchedulerPart::count).sum());
    counters.latencies().putInto(gauges);
    return new SchedulerMetrics(
        SchedulerMetrics.named(scheduler.counterTotals(), gauges), perWorker);
  }

  private Map<String, Long> workerGauges(Worker worker) {
    Latencies seen = new Latencies();
    seen.add(worker.counters.latencies);
    long longest = Math.max(watchdog.longestNanos(worker), seen.maxNanos(Latencies.Kind.RUN));
    return Map.of(
        "queue.local", (long) worker.deque.size(),
        "queue.pinned", (long) worker.pinned.size(),
        "queue.inbox", (long) scheduler.inboxes()[worker.workerIndex()].size(),
        "task.longestNanos", longest,
        "task.runningNanos", watchdog.runningNanos(worker));
  }

  private static long number(Map<String, Long> values, String name) {
    Long value = values.get(name);
    return value == null ? 0 : value;
  }

  void dump(Appendable out) throws IOException {
    for (Worker worker : scheduler.workers()) {
      out.append(worker.thread().getName())
          .append(' ')
          .append(worker.thread().getState().toString())
          .append(", ")
          .append(Integer.toString(worker.deque.size()))
          .append(" queued")
          .append(running(worker))
          .append('\n');
    }
    for (Job job : scheduler.registry().live()) {
      out.append(described(job)).append('\n');
    }
    for (SchedulerPart part : scheduler.parts()) {
      part.dump(out);
    }
  }

  private String running(Runner runner) {
    long nanos = watchdog.runningNanos(runner);
    Job job = runner.observedJob();
    return nanos == 0 || job == null
        ? ""
        : ", a task of job " + job.id() + " for " + SchedulerMetrics.timeText(nanos);
  }

  private static String described(Job job) {
    Job.Progress progress = job.progress();
    StringBuilder text = new StringBuilder("job ").append(job.id()).append(' ').append(job.state());
    Job.@Nullable Times times = job.times();
    if (times != null) {
      text.append(" for ")
          .append(SchedulerMetrics.timeText(times.wallNanos()))
          .append(", queued for ")
          .append(SchedulerMetrics.timeText(times.queuedNanos()))
          .append(", threads worked ")
          .append(SchedulerMetrics.timeText(times.runNanos()));
    }
    text.append(", ")
        .append(progress.finished())
        .append(" of ")
        .append(progress.spawned())
        .append(" tasks");
    if (progress.expected() > 0) {
      text.append(", ").append(Math.round(100 * progress.fraction())).append(" %");
    }
    return text.append(": ").append(inOneLine(job.name())).toString();
  }

  /// Names may be whole statements.
  private static String inOneLine(String name) {
    String line = SPACE.matcher(name).replaceAll(" ").strip();
    return line.length() > SHOWN_NAME_CHARS ? line.substring(0, SHOWN_NAME_CHARS) + "..." : line;
  }
}
