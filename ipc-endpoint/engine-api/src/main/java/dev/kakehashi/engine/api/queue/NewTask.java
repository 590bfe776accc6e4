package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// A task to be enqueued.
///
/// @param key its order is kept among tasks of the same key, where the queue says so; null: none. At most [#MAX_KEY_BYTES] of UTF-8
/// @param fair key by which consumers are shared out fairly, within one priority; null: none
/// @param priority 0 to [#MAX_PRIORITY]; greater ones go first
/// @param runAtMillis not handed out before, milliseconds since 1970; 0: at once
/// @param uniqueKey a second task of the same key within the window is not made; null: none
/// @param uniqueForMillis the window, from the first task's enqueue on; 0: as long as the first one is not done or dead
public record NewTask(
    Payload payload,
    @Nullable String key,
    @Nullable String fair,
    int priority,
    long runAtMillis,
    @Nullable String uniqueKey,
    long uniqueForMillis) {
  public static final int MAX_KEY_BYTES = 1024;
  public static final int MAX_PRIORITY = 9;
  public static final int DEFAULT_PRIORITY = 4;

  /// A task that has nothing but its payload.
  public static NewTask of(Payload payload) {
    return new NewTask(payload, null, null, DEFAULT_PRIORITY, 0, null, 0);
  }
}
