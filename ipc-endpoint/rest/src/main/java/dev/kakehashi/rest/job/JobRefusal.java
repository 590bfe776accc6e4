package dev.kakehashi.rest.job;

/// A request about jobs that is refused by their own rules. Carries no stack trace: it is a result.
public final class JobRefusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// Reason of a refusal.
  public enum Reason {
    /// The user, or all users, have as many jobs as they may.
    TOO_MANY_JOBS,
    /// The user, or all users, have as many keys as they may.
    TOO_MANY_KEYS,
    /// The key was used for another request.
    OTHER_REQUEST,
    /// The first request under the key has not ended.
    IN_PROGRESS,
    /// The job under the key was deleted.
    JOB_GONE,
    /// Whether the first request under the key took effect is not known, and it may not be repeated.
    OUTCOME_UNKNOWN
  }

  private final Reason reason;
  private final long retryAfterSeconds;

  /// @param retryAfterSeconds when it may succeed; 0: not known, or never
  JobRefusal(Reason reason, String message, long retryAfterSeconds) {
    super(message, null, false, false);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  public Reason reason() {
    return reason;
  }

  public long retryAfterSeconds() {
    return retryAfterSeconds;
  }
}
