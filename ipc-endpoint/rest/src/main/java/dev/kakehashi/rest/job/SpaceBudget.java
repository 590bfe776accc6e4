package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.Map;

/// Bytes of results on disk: of each user, and of all. Thread-safe.
final class SpaceBudget {
  private final long limit;
  private final long limitPerUser;
  private final Map<String, Long> users = new HashMap<>(); // guarded by this
  private long all; // guarded by this

  SpaceBudget(long limit, long limitPerUser) {
    this.limit = limit;
    this.limitPerUser = limitPerUser;
  }

  /// Counts bytes that are about to be written.
  ///
  /// @throws EngineException DISK_FULL beyond a limit; then nothing is counted
  synchronized void reserve(String user, long bytes) {
    long own = users.getOrDefault(user, 0L);
    if (own + bytes > limitPerUser) {
      throw new EngineException(
              ErrorCode.DISK_FULL,
              "results of user \"" + user + "\" need more than the space for them")
          .withDetail(
              "The limit of a user is %d bytes; %d are in use.".formatted(limitPerUser, own))
          .withHint(
              "Delete jobs whose results are no longer needed, or raise http_user_result_space.");
    }
    if (all + bytes > limit) {
      throw new EngineException(
              ErrorCode.DISK_FULL, "results of all users need more than the space for them")
          .withDetail("The limit of all users is %d bytes; %d are in use.".formatted(limit, all))
          .withHint("Delete jobs whose results are no longer needed, or raise http_result_space.");
    }
    count(user, bytes);
  }

  /// Counts what is there already, whatever the limits.
  synchronized void count(String user, long bytes) {
    users.merge(user, bytes, Long::sum);
    all += bytes;
  }

  synchronized void release(String user, long bytes) {
    if (users.merge(user, -bytes, Long::sum) == 0) {
      users.remove(user);
    }
    all -= bytes;
  }

  synchronized long usedBytes() {
    return all;
  }

  synchronized long usedBytes(String user) {
    return users.getOrDefault(user, 0L);
  }
}
