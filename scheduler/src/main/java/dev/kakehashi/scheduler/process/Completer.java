package dev.kakehashi.scheduler.process;

import org.jspecify.annotations.Nullable;

/// Tells a process how one of its commands ended. Thread-safe; the first call counts.
public interface Completer {
  /// The command has succeeded. False if it was completed before, or the process has ended.
  boolean complete(@Nullable Object data);

  /// The command has failed; false as with [#complete].
  boolean fail(Throwable error);
}
