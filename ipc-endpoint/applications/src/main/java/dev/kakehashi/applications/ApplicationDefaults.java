package dev.kakehashi.applications;

/// Times that no option sets.
public final class ApplicationDefaults {
  /// How long calls of a replaced version may go on in a process of their own.
  public static final long DRAIN_MILLIS = 60_000;

  private ApplicationDefaults() {}
}
