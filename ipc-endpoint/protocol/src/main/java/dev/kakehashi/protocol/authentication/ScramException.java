package dev.kakehashi.protocol.authentication;

/// The other side's part of an authentication makes no sense, or proves nothing.
public final class ScramException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// Reason of the failure.
  public enum Reason {
    /// It is no message of SCRAM-SHA-256, not of this exchange, or out of bounds.
    MALFORMED,
    /// The other side does not know the password, or no verifier of it.
    NOT_PROVED,
    /// There is no time left.
    TIMED_OUT
  }

  private final Reason reason;

  ScramException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  static ScramException malformed(String what) {
    return new ScramException(Reason.MALFORMED, "authentication makes no sense: " + what);
  }

  public Reason reason() {
    return reason;
  }
}
