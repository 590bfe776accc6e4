package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Metrics of a scheduler: of each worker, and of all of them.
@Timeout(60)
class MetricsTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private static long sum(SchedulerMetrics metrics, String name) {
    long sum = 0;
    for (int i = 0; i < metrics.workers(); i++) {
      sum += metrics.worker(i).getOrDefault(name, 0L);
    }
    return sum;
  }

  @Test
  void shouldCountOnEachWorkerWhatItHasRunAndHow() throws Exception {
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      jobs.add(scheduler.sticky("transaction").submit(context -> null));
    }
    Condition condition = scheduler.condition();
    Job waiting = scheduler.submit(context -> context.await(condition, then -> null));
    while (condition.pending() == 0) {
      Thread.onSpinWait();
    }
    condition.signal();
    jobs.add(waiting);
    for (Job job : jobs) {
      assertTrue(job.await(LONG));
    }
    scheduler.shutdown(LONG);
    SchedulerMetrics metrics = scheduler.metrics();
    assertEquals(22, sum(metrics, "tasks.run"), metrics::toJson);
    assertEquals(20, sum(metrics, "lane.runs"), metrics::toJson);
    assertEquals(1, sum(metrics, "condition.waits"), metrics::toJson);
    assertEquals(sum(metrics, "park.count"), sum(metrics, "wake.received"), metrics::toJson);
    for (String counter : List.of("tasks.run", "lane.runs", "condition.waits", "park.count")) {
      assertEquals(metrics.get(counter), sum(metrics, counter), metrics::toJson);
    }
    for (String gauge : List.of("queue.local", "queue.inbox", "queue.pinned")) {
      assertEquals(0, sum(metrics, gauge), metrics::toJson);
    }
  }

  @Test
  void shouldBeOneObjectOfNumbersAndOneForEachWorker() {
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(3).build())) {
      String values = "\"[\\w.]+\":-?\\d+(,\"[\\w.]+\":-?\\d+)*";
      String worker = "\\{" + values + "}";
      String all =
          "\\{" + values + ",\"workers\":\\[" + worker + "," + worker + "," + worker + "]}";
      String json = scheduler.metrics().toJson();
      assertTrue(Pattern.matches(all, json), json);
    }
  }

  @Test
  void shouldShowTimesWithTheirUnit() {
    assertEquals("999 ns", SchedulerMetrics.timeText(999));
    assertEquals("1.0 us", SchedulerMetrics.timeText(1_000));
    assertEquals("12.3 ms", SchedulerMetrics.timeText(12_345_678));
    assertEquals("123 s", SchedulerMetrics.timeText(123_000_000_000L));
  }

  @Test
  void shouldShowANameOfSeveralLinesInOne() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(1).build())) {
      Condition condition = scheduler.condition();
      Job job =
          scheduler
              .job("SELECT 1\n  FROM t")
              .timed()
              .submit(context -> context.await(condition, then -> null));
      while (condition.pending() == 0) {
        Thread.onSpinWait();
      }
      StringBuilder dump = new StringBuilder();
      scheduler.dump(dump);
      String line =
          dump.toString().lines().filter(text -> text.startsWith("job ")).findFirst().orElseThrow();
      assertTrue(
          line.matches(
              "job "
                  + job.id()
                  + " RUNNING for .+, queued for .+, threads worked .+ tasks: SELECT 1 FROM t"),
          line);
      condition.signal();
      assertTrue(job.await(LONG));
    }
  }
}
