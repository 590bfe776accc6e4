package dev.kakehashi.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A task that is to be enqueued. Immutable.
///
/// @param json a JSON text; null: `bytes` are the payload
/// @param bytes any bytes; null: `json` is the payload. Not copied: nobody changes them
/// @param key tasks of one key are handed out in order, where the queue says so; null: none
/// @param fair key by which consumers are shared out; null: none
/// @param priority 0 to 9, greater ones go first; null: the middle
/// @param runAt not handed out before; null: at once
/// @param uniqueKey a second task of the same key within the window is not made; null: none
/// @param uniqueFor the window; null: until the first one is done or dead
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record TaskDraft(
    @Nullable String json,
    byte @Nullable [] bytes,
    @Nullable String key,
    @Nullable String fair,
    @Nullable Integer priority,
    @Nullable Instant runAt,
    @Nullable String uniqueKey,
    @Nullable Duration uniqueFor) {
  /// @throws IllegalArgumentException unless there is one payload
  public TaskDraft {
    if ((json == null) == (bytes == null)) {
      throw new IllegalArgumentException("a task has either a JSON text or bytes");
    }
  }

  public static TaskDraft ofJson(String json) {
    return new TaskDraft(json, null, null, null, null, null, null, null);
  }

  public static TaskDraft ofBytes(byte[] bytes) {
    return new TaskDraft(null, bytes, null, null, null, null, null, null);
  }

  /// The text as bytes of UTF-8.
  public static TaskDraft ofText(String text) {
    return ofBytes(text.getBytes(StandardCharsets.UTF_8));
  }

  public TaskDraft withKey(String value) {
    return new TaskDraft(json, bytes, value, fair, priority, runAt, uniqueKey, uniqueFor);
  }

  public TaskDraft withFair(String value) {
    return new TaskDraft(json, bytes, key, value, priority, runAt, uniqueKey, uniqueFor);
  }

  public TaskDraft withPriority(int value) {
    return new TaskDraft(json, bytes, key, fair, value, runAt, uniqueKey, uniqueFor);
  }

  public TaskDraft withRunAt(Instant value) {
    return new TaskDraft(json, bytes, key, fair, priority, value, uniqueKey, uniqueFor);
  }

  /// @param window null: until the first one is done or dead
  public TaskDraft withUnique(String value, @Nullable Duration window) {
    return new TaskDraft(json, bytes, key, fair, priority, runAt, value, window);
  }
}
