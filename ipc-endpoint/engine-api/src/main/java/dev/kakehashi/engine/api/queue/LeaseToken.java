package dev.kakehashi.engine.api.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Base64;

/// Names one lease of one task: who shows another one than the task's present lease changes nothing.
///
/// @param incarnation of the queue system, counted up at each start
/// @param position of the task in its queue
/// @param attempt from 1
/// @param nonce random, so that a token cannot be guessed from another
public record LeaseToken(
    long incarnation, long queueId, long groupId, long position, int attempt, int nonce) {
  private static final int BYTES = 4 * Long.BYTES + 2 * Integer.BYTES;

  /// 54 characters of base64 for URLs.
  public String text() {
    byte[] bytes =
        ByteBuffer.allocate(BYTES)
            .putLong(incarnation)
            .putLong(queueId)
            .putLong(groupId)
            .putLong(position)
            .putInt(attempt)
            .putInt(nonce)
            .array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /// Reads [#text()].
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE if it is none
  public static LeaseToken of(String text) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      if (bytes.remaining() == BYTES) {
        return new LeaseToken(
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getInt(),
            bytes.getInt());
      }
    } catch (IllegalArgumentException e) {
      throw refused(e);
    }
    throw refused(null);
  }

  private static EngineException refused(@org.jspecify.annotations.Nullable Throwable cause) {
    return new EngineException(
        ErrorCode.INVALID_PARAMETER_VALUE, "this is no token of a lease", cause);
  }
}
