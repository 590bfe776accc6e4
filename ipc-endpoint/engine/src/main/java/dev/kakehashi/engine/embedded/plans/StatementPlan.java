package dev.kakehashi.engine.embedded.plans;

import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.sql.statement.Prepared;
import org.jspecify.annotations.Nullable;

/// A plan of one version of the catalogue.
///
/// @param runner null for DDL
/// @param basis what it was made with
/// @param allowed roles that may run it
/// @param zone name of the time zone that it is of; null: of any
/// @param receive what has to come before it begins; null: nothing
public record StatementPlan(
    Prepared prepared,
    @Nullable PlanRunner runner,
    long catalogVersion,
    PlanBasis basis,
    AllowedRoles allowed,
    @Nullable String zone,
    @Nullable ReceiveCall receive) {
  public boolean fits(String sessionZone) {
    return zone == null || zone.equals(sessionZone);
  }
}
