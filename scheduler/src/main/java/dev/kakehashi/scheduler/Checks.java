package dev.kakehashi.scheduler;

/// Invariants that are checked under `-Dscheduler.check=true` and cost nothing otherwise.
final class Checks {
  static final boolean ON = Boolean.getBoolean("scheduler.check");

  private Checks() {}

  static void that(boolean invariant, String text) {
    if (!invariant) {
      throw new AssertionError("broken invariant: " + text);
    }
  }
}
