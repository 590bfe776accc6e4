package dev.kakehashi.server.report;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.monitor.MetricsWriter;
import dev.kakehashi.rest.sql.SqlService;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;

/// Counters of the endpoint, besides those of its HTTP door. Labels are names of ours alone.
///
/// @param core read for its number of transactions, which the poller writes: the number may be a moment old
public record EndpointMetrics(
    Engine engine,
    TaskScheduler scheduler,
    TransportEndpoint transport,
    RequestCore core,
    SqlService statements,
    Jobs jobs)
    implements Metrics {
  private static final LogStatus.Following NOT_FOLLOWING =
      new LogStatus.Following("", new LogPosition(0, 0, 0), 0, 0, 0, "");

  private static final LogStatus.Archive NO_ARCHIVE =
      new LogStatus.Archive("", null, 0, 0, 0, 0, 0, "");
  private static final double NANOS_PER_SECOND = 1e9;

  @Override
  public void write(MetricsWriter writer) {
    process(writer);
    requests(writer);
    scheduler(writer);
    LogStatus log = engine.logStatus();
    if (log != null) {
      LogStatus.Archive archive = log.archive();
      archive(writer, archive == null ? NO_ARCHIVE : archive);
      LogStatus.Following following = log.following();
      following(writer, following == null ? NOT_FOLLOWING : following);
      LogStatus.Synchronous synchronous = log.synchronous();
      writer
          .gauge(
              "kakehashi_synchronous_waiting",
              "1: commits wait for the synchronous standby for longer than synchronous_patience.")
          .sample(synchronous != null && synchronous.isWaiting() ? 1 : 0);
      writer
          .gauge("kakehashi_synchronous_alone", "1: commits go on without the synchronous standby.")
          .sample(synchronous != null && synchronous.isAlone() ? 1 : 0);
      writer
          .gauge("kakehashi_standbys", "Standbys that have asked for the log.")
          .sample(log.standbys().size());
      writer
          .gauge("kakehashi_standby_lag_bytes", "Log that the standby furthest behind lacks.")
          .sample(log.standbys().stream().mapToLong(LogStatus.Standby::lagBytes).max().orElse(0));
    }
  }

  private static void following(MetricsWriter writer, LogStatus.Following following) {
    writer
        .gauge(
            "kakehashi_following_lag_bytes", "Of a standby: log of the primary that readers lack.")
        .sample(following.lagBytes());
    writer
        .gauge("kakehashi_following_lag_seconds", "Of a standby: age of what readers see.")
        .sample(following.lagMicros() / 1e6);
    writer
        .counter("kakehashi_following_groups", "Of a standby: groups of the log received.")
        .sample(following.groups());
    writer
        .gauge("kakehashi_following_failing", "Of a standby, 1: the primary is not followed.")
        .sample(following.problem().isEmpty() ? 0 : 1);
  }

  private static void archive(MetricsWriter writer, LogStatus.Archive archive) {
    writer
        .gauge("kakehashi_archive_waiting_bytes", "Log that the archive lacks.")
        .sample(archive.waitingBytes());
    writer
        .gauge("kakehashi_archive_failing", "1: the last try to write to the archive has failed.")
        .sample(archive.problem().isEmpty() ? 0 : 1);
    writer
        .counter("kakehashi_archive_files", "Files that were written to the archive.")
        .sample(archive.files());
    writer
        .counter("kakehashi_archive_failures", "Tries to write to the archive that have failed.")
        .sample(archive.failures());
    writer
        .counter(
            "kakehashi_archive_gaps", "Times that segments of the log were given up unarchived.")
        .sample(archive.gaps());
  }

  private static void process(MetricsWriter writer) {
    var runtime = ManagementFactory.getRuntimeMXBean();
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    writer
        .gauge("kakehashi_uptime_seconds", "Time since the start of the process.")
        .sample(runtime.getUptime() / 1000.0);
    writer.gauge("kakehashi_heap_used_bytes", "Heap in use.").sample(heap.getUsed());
    writer.gauge("kakehashi_heap_max_bytes", "Heap that there may be.").sample(heap.getMax());
    if (ManagementFactory.getOperatingSystemMXBean()
        instanceof com.sun.management.OperatingSystemMXBean system) {
      writer
          .counter("kakehashi_processor_seconds", "Processor time of the process.")
          .sample(system.getProcessCpuTime() / NANOS_PER_SECOND);
    }
  }

  private void requests(MetricsWriter writer) {
    TransportEndpoint.ResourceUsage usage = transport.usage();
    writer
        .gauge("kakehashi_sessions", "Clients that are attached to shared memory.")
        .sample(transport.sessionCount());
    writer
        .gauge("kakehashi_shared_memory_requests", "Their requests without an answer.")
        .sample(usage.requests());
    writer
        .counter("kakehashi_direct_reads", "Rows that clients have looked for without a request.")
        .sample(transport.directReads());
    writer
        .gauge("kakehashi_shared_memory_blocks", "Blocks of result buffers that are in use.")
        .sample(usage.blocks());
    writer
        .gauge("kakehashi_transactions", "Open transactions that have a handle.")
        .sample(core.openTransactions());
    writer
        .gauge("kakehashi_http_answer_bytes", "Memory of long answers that are being read.")
        .sample(statements.room().reservedBytes());
    writer.gauge("kakehashi_http_result_bytes", "Files of results.").sample(jobs.usedBytes());
  }

  private void scheduler(MetricsWriter writer) {
    SchedulerMetrics metrics = scheduler.metrics();
    writer
        .counter("kakehashi_tasks", "Tasks of the scheduler that have run.")
        .sample(metrics.get("tasks.run"));
    writer
        .counter("kakehashi_tasks_failed", "Tasks that have failed.")
        .sample(metrics.get("tasks.failed"));
    writer
        .counter("kakehashi_task_steals", "Tasks that workers have taken from each other.")
        .sample(metrics.get("steal.items"));
    writer
        .gauge("kakehashi_jobs_live", "Jobs of the scheduler that run.")
        .sample(metrics.get("jobs.live"));
    writer
        .counter("kakehashi_jobs", "Jobs of the scheduler that have ended well.")
        .sample(metrics.get("jobs.done"));
    writer
        .counter("kakehashi_jobs_failed", "Jobs that have failed.")
        .sample(metrics.get("jobs.failed"));
    writer
        .gauge("kakehashi_workers_awake", "Workers that do not sleep.")
        .sample(metrics.get("workers.awake"));
    writer
        .gauge("kakehashi_workers_hung", "Workers whose task has run for long.")
        .sample(metrics.get("workers.hung"));
  }
}
