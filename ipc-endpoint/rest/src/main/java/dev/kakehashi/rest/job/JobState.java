package dev.kakehashi.rest.job;

import java.util.Locale;

/// Where a job stands.
public enum JobState {
  /// Waits until fewer jobs of its user run.
  QUEUED(1),
  RUNNING(2),
  SUCCEEDED(3),
  FAILED(4),
  CANCELED(5),
  /// The endpoint ended before the job did, and nothing of it has been committed as far as is known.
  INTERRUPTED(6);

  private final int number;

  /// @param number in the journal: stays as it is
  JobState(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  public boolean isEnded() {
    return this != QUEUED && this != RUNNING;
  }

  /// As it is shown.
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
