package dev.kakehashi.engine.api;

/// A statement that is being prepared.
@FunctionalInterface
public interface Planning {
  /// One that has ended.
  Planning ENDED = () -> {};

  /// Asks it to end with QUERY_CANCELED soon. Idempotent, from any thread, also after the end.
  void cancel();
}
