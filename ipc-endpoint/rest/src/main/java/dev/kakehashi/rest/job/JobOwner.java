package dev.kakehashi.rest.job;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;

/// Counts of one user. Belongs to the lock of [JobTable].
final class JobOwner {
  /// Jobs that wait, run, or have a result.
  int jobs;

  int running;
  int keys;

  /// Bytes of kept answers.
  long answerBytes;

  /// Bytes of works that wait or run.
  long heldBytes;

  /// Jobs under keys whose results were sent whole with an answer, the longest ago first. Their files go when room is needed.
  final LinkedHashSet<LiveJob> answered = new LinkedHashSet<>(0);

  final ArrayDeque<LiveJob> queued = new ArrayDeque<>();

  boolean isUnused() {
    return jobs == 0
        && running == 0
        && keys == 0
        && answerBytes == 0
        && heldBytes == 0
        && answered.isEmpty()
        && queued.isEmpty();
  }
}
