package dev.kakehashi.scheduler.process;

import dev.kakehashi.scheduler.Job;

/// Facts that a process knows about itself; valid for its whole life.
public interface ProcessContext {
  /// Its address.
  Pid pid();

  /// Where it was spawned: to send, spawn and look others up.
  Processes processes();

  /// The job that the process is. Canceling it ends the process without another step.
  Job job();
}
