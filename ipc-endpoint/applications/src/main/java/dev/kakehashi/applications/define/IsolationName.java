package dev.kakehashi.applications.define;

import dev.kakehashi.application.Isolation;

/// Isolation levels as the engine is told them.
public final class IsolationName {
  private IsolationName() {}

  /// `READ COMMITTED`, `REPEATABLE READ` or `SERIALIZABLE`.
  public static String of(Isolation isolation) {
    return isolation.name().replace('_', ' ');
  }
}
