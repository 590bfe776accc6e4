package dev.kakehashi.scheduler.process;

import org.jspecify.annotations.Nullable;

/// Output of a step. Valid on the step's thread until it returns.
public interface StepOutput {
  /// Yields a command to its [CommandHandler], after the step. Its completion comes as an event with the same tag.
  ///
  /// @param tag chosen by the process to tell its commands apart
  void yieldCommand(Object command, long tag);

  /// Sets the result of the process; the last one counts.
  void result(@Nullable Object result);
}
