package dev.kakehashi.rest.job.http;

import dev.kakehashi.rest.job.JobState;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.monitor.MetricsWriter;

/// Numbers of jobs and keys for `/metrics`. Thread-safe.
public final class JobMetrics implements Metrics {
  private final Jobs jobs;

  public JobMetrics(Jobs jobs) {
    this.jobs = jobs;
  }

  @Override
  public void write(MetricsWriter writer) {
    Jobs.Counts counts = jobs.counts();
    writer.gauge("kakehashi_http_jobs", "Jobs that are kept, by their state.");
    for (JobState state : JobState.values()) {
      writer.sample((long) counts.jobs().getOrDefault(state, 0), "state", state.text());
    }
    writer
        .gauge("kakehashi_http_idempotency_keys", "Keys of requests that are kept.")
        .sample((long) counts.keys())
        .gauge("kakehashi_http_job_waiters", "Requests that wait for the end of a job.")
        .sample((long) jobs.waiting());
  }
}
