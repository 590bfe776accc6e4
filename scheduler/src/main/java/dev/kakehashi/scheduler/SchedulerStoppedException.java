package dev.kakehashi.scheduler;

import java.util.concurrent.RejectedExecutionException;

/// The scheduler accepts no new jobs because it is shutting down or has stopped.
public final class SchedulerStoppedException extends RejectedExecutionException {
  private static final long serialVersionUID = 1L;

  SchedulerStoppedException(String jobName) {
    super("could not accept job \"" + jobName + "\": the scheduler is shutting down");
  }
}
