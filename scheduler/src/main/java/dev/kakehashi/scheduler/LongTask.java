package dev.kakehashi.scheduler;

import java.time.Duration;
import java.util.List;

/// A task that has been running for longer than `hangAfter`. Immutable.
///
/// @param threadName the worker's thread, or the thread that runs a light job itself
/// @param worker index of the worker, or -1 for another thread
/// @param jobId [Job#id()], or 0 if the job ended while it was looked at
/// @param jobName [Job#name()]
/// @param running for how long at least; the watchdog saw its start up to one `preemptAfter` late
/// @param callback no task: a teardown or another callback of the job, the `discarded` of one of its tasks, or a
///     condition's check
/// @param stack what the thread was doing
public record LongTask(
    String threadName,
    int worker,
    long jobId,
    String jobName,
    Duration running,
    boolean callback,
    List<StackTraceElement> stack) {
  /// Copies the stack.
  public LongTask {
    stack = List.copyOf(stack);
  }

  /// The stack, one frame per line, as in a thread dump.
  public String stackText() {
    StringBuilder text = new StringBuilder();
    stack.forEach(frame -> text.append("\n\tat ").append(frame));
    return text.toString();
  }

  @Override
  public String toString() {
    return "%s of job %d \"%s\" has been running for %d ms on %s"
        .formatted(callback ? "callback" : "task", jobId, jobName, running.toMillis(), threadName);
  }
}
