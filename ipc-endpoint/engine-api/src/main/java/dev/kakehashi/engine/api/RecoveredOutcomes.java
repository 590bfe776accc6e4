package dev.kakehashi.engine.api;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/// Outcomes of transactions of earlier runs, as the log knew them when the engine was opened, by their references (see
/// [EngineTransaction#reference(long)]). Immutable.
///
/// There is one entry for each place: the last commit there, and the last decision on a prepared transaction.
///
/// @param commits references of the last commits, by place
/// @param decisions the last decisions, by place
/// @param complete whether a transaction without an entry has changed nothing; if not, its outcome is not known
public record RecoveredOutcomes(
    Map<Integer, Long> commits, Map<Integer, Decision> decisions, boolean complete) {
  /// There were no transactions.
  public static final RecoveredOutcomes NONE = new RecoveredOutcomes(Map.of(), Map.of(), true);

  private static final int PLACE_BITS = 16;

  /// How a prepared transaction was decided.
  public record Decision(long reference, boolean committed) {}

  /// The place of a transaction, which no other open one has at the same time: 0..65535.
  public static int place(long reference) {
    return (int) (reference & (1 << PLACE_BITS) - 1);
  }

  /// The order of the references of one place.
  private static long generation(long reference) {
    return reference >>> PLACE_BITS;
  }

  /// Whether a transaction that was to commit has committed; empty: it is not known, mostly because a later one at its place has covered
  /// that.
  public Optional<Boolean> committed(long reference) {
    Long last = commits.get(place(reference));
    if (last == null || generation(last) < generation(reference)) {
      return complete ? Optional.of(false) : Optional.empty();
    }
    return last == reference ? Optional.of(true) : Optional.empty();
  }

  /// Whether a transaction that was prepared, and is not any more, has committed; empty: another one at its place has covered that.
  public Optional<Boolean> decided(long reference) {
    Decision last = decisions.get(place(reference));
    return last != null && last.reference() == reference
        ? Optional.of(last.committed())
        : Optional.empty();
  }

  /// References of transactions that have committed.
  public Collection<Long> references() {
    return commits.values();
  }
}
