package dev.kakehashi.engine.store.api;

/// The standby that commits wait for.
///
/// @param standby its name
/// @param level what it has to have done with a commit
/// @param goesOnAlone whether commits go on without it when it is away; otherwise they wait
/// @param patienceNanos how long they wait until it counts as away
public record SynchronousConfig(
    String standby, Level level, boolean goesOnAlone, long patienceNanos) {
  /// The standby has done so much with a commit.
  public enum Level {
    /// It survives there.
    STORED,
    /// Its readers see it, too.
    APPLIED
  }
}
