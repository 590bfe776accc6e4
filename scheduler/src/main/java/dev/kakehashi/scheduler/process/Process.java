package dev.kakehashi.scheduler.process;

import org.jspecify.annotations.Nullable;

/// Something that lives longer than a task: it runs in steps, keeps its state between them, and costs no thread
/// while it waits. Made by [Processes#spawn].
///
/// The scheduler calls `init` once, then `step` as often as there is reason to, then `close` once, all on workers, one
/// at a time; each call sees what the one before wrote. A step must not block. An exception of `init` or `step` ends the process.
@SuppressWarnings("JavaLangClash") // the field's word; it stands beside Task and Job
public interface Process extends AutoCloseable {
  /// Wish of a process after a step.
  enum Step {
    /// Another step, after what else waits on this worker.
    CONTINUE,
    /// To wait for what it has yielded; any event wakes it.
    YIELD,
    /// To wait for messages; any event wakes it.
    IDLE,
    /// To end.
    DONE
  }

  /// Where a process is.
  enum State {
    /// Queued for a step.
    READY,
    /// In `init` or a step.
    RUNNING,
    /// Waits for the completion of a command.
    BLOCKED,
    /// Waits for a message.
    IDLE,
    /// Closed, or about to be.
    COMPLETE
  }

  /// Called before the first step.
  ///
  /// @param method what the process is asked to do
  /// @param input its argument
  default void init(ProcessContext context, String method, @Nullable Object input)
      throws Exception {}

  /// Does a bounded piece of work.
  ///
  /// @param events what has arrived and was not taken yet; valid during the step
  /// @param output takes commands and the result; valid during the step
  Step step(Events events, StepOutput output) throws Exception;

  /// Frees what the process owns. Exactly once, also after an exception, after a cancel, and if `init` was never called.
  @Override
  default void close() {}
}
