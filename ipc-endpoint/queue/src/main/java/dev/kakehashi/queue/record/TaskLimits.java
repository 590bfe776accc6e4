package dev.kakehashi.queue.record;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Limits of a task.
public final class TaskLimits {
  private static final int MAX_PAYLOAD = Integer.getInteger("kakehashi.queue.maxPayload", 64 << 20);

  private TaskLimits() {}

  /// @throws EngineException INVALID_PARAMETER_VALUE, LIMIT_EXCEEDED
  public static void check(NewTask task) {
    checkKey("key", task.key());
    checkKey("fair key", task.fair());
    checkKey("unique key", task.uniqueKey());
    if (task.priority() < 0 || task.priority() > NewTask.MAX_PRIORITY) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "priority must be 0 to " + NewTask.MAX_PRIORITY + ", not " + task.priority());
    }
    if (task.runAtMillis() < 0 || task.uniqueForMillis() < 0) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE, "times of a task must not be negative");
    }
    if (task.payload().bytes().length > MAX_PAYLOAD) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "a payload of " + task.payload().bytes().length + " bytes is longer than " + MAX_PAYLOAD);
    }
  }

  private static void checkKey(String what, @Nullable String key) {
    if (key != null
        && (key.length() > NewTask.MAX_KEY_BYTES
            || key.getBytes(StandardCharsets.UTF_8).length > NewTask.MAX_KEY_BYTES)) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "the " + what + " is longer than " + NewTask.MAX_KEY_BYTES + " bytes");
    }
  }
}
