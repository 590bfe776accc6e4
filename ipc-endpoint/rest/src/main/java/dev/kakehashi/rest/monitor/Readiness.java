package dev.kakehashi.rest.monitor;

/// Whether the endpoint takes requests. Thread-safe.
@FunctionalInterface
public interface Readiness {
  /// Why it does not, for people; empty: it does. Takes microseconds.
  String obstacle();
}
