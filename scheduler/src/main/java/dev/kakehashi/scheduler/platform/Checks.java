package dev.kakehashi.scheduler.platform;

/// Invariants that are checked under `-Dscheduler.check=true` and cost nothing otherwise.
public final class Checks {
  public static final boolean ON = Boolean.getBoolean("scheduler.check");

  private Checks() {}

  public static void that(boolean invariant, String text) {
    if (!invariant) {
      throw new AssertionError("broken invariant: " + text);
    }
  }
}
