package dev.kakehashi.requests;

import java.util.Map;

/// How long transactions may be idle: run nothing, without being prepared.
///
/// @param timeoutNanos of users who are not named below; 0: as long as their lease lets them
/// @param ofUsers the same of users of the engine, by name
public record IdleLimits(long timeoutNanos, Map<String, Long> ofUsers) {
  /// There are none.
  public static final IdleLimits NONE = new IdleLimits(0, Map.of());

  public IdleLimits {
    ofUsers = Map.copyOf(ofUsers);
  }

  /// That of a user; 0: none.
  long of(String userName) {
    return ofUsers.getOrDefault(userName, timeoutNanos);
  }
}
