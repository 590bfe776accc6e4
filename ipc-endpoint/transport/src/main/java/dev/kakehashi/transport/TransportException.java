package dev.kakehashi.transport;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import org.jspecify.annotations.Nullable;

/// A failure of the transport, with a code of the project's error table.
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String detail;
  private final String hint;

  public TransportException(ErrorCode code, String message) {
    this(code, message, "", "", null);
  }

  public TransportException(ErrorCode code, String message, @Nullable Throwable cause) {
    this(code, message, "", "", cause);
  }

  public TransportException(
      ErrorCode code, String message, String detail, String hint, @Nullable Throwable cause) {
    super(message, cause, false, cause != null || code == ErrorCode.INTERNAL_ERROR);
    this.code = code;
    this.detail = detail;
    this.hint = hint;
  }

  public ErrorCode code() {
    return code;
  }

  /// The same as fields of a message.
  public Failure failure() {
    return Failure.of(code, String.valueOf(getMessage()), detail, hint);
  }
}
