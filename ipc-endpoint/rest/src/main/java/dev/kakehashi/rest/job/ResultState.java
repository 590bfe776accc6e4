package dev.kakehashi.rest.job;

import java.util.Locale;

/// State of a job's result.
public enum ResultState {
  /// Not yet, or there is none.
  NONE(1),
  AVAILABLE(2),
  /// It was there, and has gone with its time.
  EXPIRED(3),
  /// The job has taken effect, but its result could not be kept: the endpoint ended, the disk was full, or a file was damaged later. The
  /// number of its rows may be unknown.
  LOST(4);

  private final int number;

  /// @param number in the journal: stays as it is
  ResultState(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  /// As it is shown.
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
