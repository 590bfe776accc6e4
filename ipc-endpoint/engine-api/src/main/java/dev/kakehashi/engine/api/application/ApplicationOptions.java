package dev.kakehashi.engine.api.application;

/// Limits of an application: options of CREATE and ALTER APPLICATION.
///
/// @param timeLimitMillis `time_limit`: longest call; greater than 0
/// @param maxRows `max_rows`: most rows that a call gives back
/// @param maxBytes `max_bytes`: most bytes of them
/// @param maxCalls `max_calls`: most calls at a time
/// @param maxWaiting `max_waiting`: most that wait for one of those; more are refused (53300)
/// @param maxStackBytes `max_stack`: of a thread of a processor-bound call and of a process of its own
/// @param memoryBytes `memory`: heap of a process of its own
/// @param functionTimeMillis `function_time_limit`: after it, a function between two batches is canceled, and after ten times of it the
///     function is disabled
public record ApplicationOptions(
    long timeLimitMillis,
    long maxRows,
    long maxBytes,
    int maxCalls,
    int maxWaiting,
    long maxStackBytes,
    long memoryBytes,
    long functionTimeMillis) {
  public static final ApplicationOptions DEFAULT =
      new ApplicationOptions(60_000, 1_000_000, 64L << 20, 100, 1_000, 1L << 20, 256L << 20, 1_000);
}
