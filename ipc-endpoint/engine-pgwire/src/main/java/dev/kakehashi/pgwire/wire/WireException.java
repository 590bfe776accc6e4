package dev.kakehashi.pgwire.wire;

import org.jspecify.annotations.Nullable;

/// The connection is unusable: it broke, did not answer in time, or the server sent a message that makes no sense. Work on it may have
/// happened or not.
public final class WireException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WireException(String message) {
    super(message);
  }

  public WireException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
