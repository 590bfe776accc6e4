package dev.kakehashi.rest.route;

/// Routes that come and go while the door is open. Thread-safe.
@FunctionalInterface
public interface ChangingRoutes {
  /// Current routes; the same object as long as they are the same.
  Routes now();
}
