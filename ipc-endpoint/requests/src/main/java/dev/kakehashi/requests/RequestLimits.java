package dev.kakehashi.requests;

import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.scheduler.RateLimit;
import dev.kakehashi.scheduler.TaskScheduler;
import org.jspecify.annotations.Nullable;

/// How much sessions may start, and how long their transactions live.
///
/// @param maxTransactions open at a time, 1..65536
/// @param leaseNanos default lease of a transaction
/// @param maxLeaseNanos longest lease that a client may ask for
/// @param scheduler where it waits what a session may not start yet
/// @param session limit of every session
public record RequestLimits(
    int maxTransactions,
    long leaseNanos,
    long maxLeaseNanos,
    TaskScheduler scheduler,
    RateLimit session) {
  /// The admission of a new session; null: unlimited.
  @Nullable Admission admission() {
    return session.isUnlimited() ? null : scheduler.admission(session);
  }
}
