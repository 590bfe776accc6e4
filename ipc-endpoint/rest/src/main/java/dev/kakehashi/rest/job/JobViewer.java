package dev.kakehashi.rest.job;

/// User who asks about jobs.
///
/// @param user sees, cancels and deletes his own jobs, and he alone reads their results
/// @param seesAll whether the state of others' jobs is shown to him, as to members of pg_monitor
/// @param signalsAll whether he may cancel and delete others' jobs, as members of pg_signal_backend
public record JobViewer(String user, boolean seesAll, boolean signalsAll) {
  /// One who sees his own jobs alone.
  public static JobViewer of(String user) {
    return new JobViewer(user, false, false);
  }
}
