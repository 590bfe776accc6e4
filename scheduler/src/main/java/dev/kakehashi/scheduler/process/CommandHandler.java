package dev.kakehashi.scheduler.process;

/// Carries out commands of one class, see [Processes#handle].
@FunctionalInterface
public interface CommandHandler<C> {
  /// Begins to carry out a command; called on a worker after the step that yielded it, possibly on several at once, and
  /// must not block. An exception that it throws is the command's failure.
  ///
  /// @param tag the process's, for logs
  /// @param completer to be told how it ended, now or later, from any thread
  void handle(C command, long tag, Completer completer) throws Exception;
}
