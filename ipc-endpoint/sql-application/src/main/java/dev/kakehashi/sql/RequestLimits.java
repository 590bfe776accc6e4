package dev.kakehashi.sql;

import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.scheduler.RateLimit;
import dev.kakehashi.scheduler.TaskScheduler;
import org.jspecify.annotations.Nullable;

/// How much each session may start; the scheduler keeps what has to wait.
///
/// @param scheduler where it waits
/// @param session limit of every session
public record RequestLimits(TaskScheduler scheduler, RateLimit session) {
  /// The admission of a new session; null: unlimited.
  @Nullable Admission admission() {
    return session.isUnlimited() ? null : scheduler.admission(session);
  }
}
