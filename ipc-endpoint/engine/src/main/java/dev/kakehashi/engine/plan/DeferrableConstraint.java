package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.catalog.ForeignKey.Timing;

/// A constraint that may be looked at when its statement or its transaction ends.
public sealed interface DeferrableConstraint permits References.Rule, UniqueKey {
  /// Unique among all constraints.
  long constraintId();

  Timing timing();
}
