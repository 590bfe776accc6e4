package dev.kakehashi.scheduler;

/// One open hold of a job; the job keeps the list. Compared by identity.
final class JobHold implements Job.Hold {
  private final Job job;
  private final boolean direct;

  JobHold(Job job, boolean direct) {
    this.job = job;
    this.direct = direct;
  }

  @Override
  public void close() {
    job.release(this, direct);
  }
}
