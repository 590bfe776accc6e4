package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import org.jspecify.annotations.Nullable;

/// A request failed, at the endpoint or on the way to it.
public final class EndpointException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  EndpointException(Failure failure, @Nullable Throwable cause) {
    super(failure.message(), cause);
    this.failure = failure;
  }

  /// A failure that came another way than by a session, as over HTTP.
  public static EndpointException of(Failure failure) {
    return new EndpointException(failure, null);
  }

  static EndpointException of(ErrorCode code, String message) {
    return new EndpointException(Failure.of(code, message), null);
  }

  static EndpointException of(ErrorCode code, String message, @Nullable Throwable cause) {
    return new EndpointException(Failure.of(code, message), cause);
  }

  /// Five characters.
  public String sqlstate() {
    return failure.sqlstate();
  }

  /// Everything the endpoint said.
  public Failure failure() {
    return failure;
  }

  /// Whether the session is of no use any more.
  public boolean isFatal() {
    return failure.fatal() || failure.sqlstate().startsWith("08");
  }

  @Override
  @SuppressWarnings("OverrideThrowableToString") // getMessage is the primary message alone
  public String toString() {
    StringBuilder text = new StringBuilder(sqlstate()).append(": ").append(getMessage());
    if (!failure.detail().isEmpty()) {
      text.append("; ").append(failure.detail());
    }
    if (!failure.hint().isEmpty()) {
      text.append("; ").append(failure.hint());
    }
    return text.toString();
  }
}
