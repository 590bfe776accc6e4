package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/// Whose rights a process may ask for: those of the application's owner, and of users whose calls it runs. Thread-safe.
final class AllowedUsers {
  private final ConcurrentMap<String, Integer> calls = new ConcurrentHashMap<>();

  AllowedUsers(String owner) {
    enter(owner);
  }

  void enter(String user) {
    calls.merge(user, 1, Integer::sum);
  }

  void leave(String user) {
    calls.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
  }

  /// @throws EngineException INSUFFICIENT_PRIVILEGE for any other
  String checked(String user) {
    if (!calls.containsKey(user)) {
      throw new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE,
          "an application's process may not act for \"" + user + "\", who has not called it");
    }
    return user;
  }
}
