package dev.kakehashi.engine.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// An engine's log, for people and monitoring.
///
/// @param position up to where it is durable
/// @param archive null: it has none
/// @param standbys that have asked for it since the start
/// @param following of a standby; null: it is none
/// @param synchronous null: commits wait for no standby
public record LogStatus(
    LogPosition position,
    @Nullable Archive archive,
    List<Standby> standbys,
    @Nullable Following following,
    @Nullable Synchronous synchronous) {
  /// A log that follows no other.
  public LogStatus(
      LogPosition position,
      @Nullable Archive archive,
      List<Standby> standbys,
      @Nullable Synchronous synchronous) {
    this(position, archive, standbys, null, synchronous);
  }

  /// The same of a standby.
  public LogStatus with(Following how) {
    return new LogStatus(position, archive, standbys, how, synchronous);
  }

  /// The standby that commits wait for.
  ///
  /// @param level what it has to have done with them
  /// @param isWaiting a commit waits for longer than it should
  /// @param isAlone commits go on without it
  public record Synchronous(String standby, String level, boolean isWaiting, boolean isAlone) {}

  /// How a standby follows its primary.
  ///
  /// @param primary where it is
  /// @param applied position up to which readers see the log
  /// @param lagBytes of the primary's log that they do not see, as of its last answer
  /// @param lagMicros how old what they see is; 0: they see all
  /// @param groups that were received since the start
  /// @param problem why the primary is not followed; empty: it is
  public record Following(
      String primary,
      LogPosition applied,
      long lagBytes,
      long lagMicros,
      long groups,
      String problem) {}

  /// A copy of the log in another place.
  ///
  /// @param location directory
  /// @param position up to where the archive has the log; null: it has nothing yet
  /// @param archivedMillis when that was written, since 1970; 0: not since the start
  /// @param waitingBytes of the log that it lacks
  /// @param files that were written since the start
  /// @param failures of writing since the start
  /// @param gaps how often files were given up that it lacks, since the start
  /// @param problem why it does not follow; empty: it does
  public record Archive(
      String location,
      @Nullable LogPosition position,
      long archivedMillis,
      long waitingBytes,
      long files,
      long failures,
      long gaps,
      String problem) {}

  /// Another endpoint that follows the log.
  ///
  /// @param position up to which it has it, durably
  /// @param lagBytes that it lacks
  /// @param askedMillis when it has asked last, since 1970; 0: not since the start
  public record Standby(String name, LogPosition position, long lagBytes, long askedMillis) {}
}
