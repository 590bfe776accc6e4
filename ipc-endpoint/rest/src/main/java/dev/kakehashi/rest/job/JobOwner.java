package dev.kakehashi.rest.job;

import java.util.ArrayDeque;

/// What is counted for one user. Belongs to the lock of [JobTable].
final class JobOwner {
  /// Jobs that wait, run, or have a result.
  int jobs;

  int running;
  int keys;

  /// Of kept answers.
  long answerBytes;

  /// Of works that wait or run.
  long heldBytes;

  final ArrayDeque<LiveJob> queued = new ArrayDeque<>();

  boolean isUnused() {
    return jobs == 0
        && running == 0
        && keys == 0
        && answerBytes == 0
        && heldBytes == 0
        && queued.isEmpty();
  }
}
