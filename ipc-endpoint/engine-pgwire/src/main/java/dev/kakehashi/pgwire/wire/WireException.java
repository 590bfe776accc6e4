package dev.kakehashi.pgwire.wire;

import org.jspecify.annotations.Nullable;

/// The connection is of no use any more: it broke, did not answer in time, or the server said what makes no sense. What ran on it may have happened or not.
public final class WireException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WireException(String message) {
    super(message);
  }

  public WireException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
