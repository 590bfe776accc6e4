package dev.kakehashi.engine.embedded.plans;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.bulk.DumpRunner;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.statistics.StatisticsKeeper;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Plans statements, and keeps the plans. Thread-safe.
public final class StatementPlans {
  private static final Logger LOG = LoggerFactory.getLogger(StatementPlans.class);

  /// As PostgreSQL's `MaxTupleAttributeNumber`.
  private static final int MAX_RESULT_COLUMNS = 1664;

  private final PlanCache cache;
  private final Supplier<CatalogSnapshot> catalog;
  private final StatisticsKeeper statistics;
  private final LiveTables facts;
  private final LongUnaryOperator rowCount;

  /// @param capacity plans that are kept, 1 or more
  /// @param catalog the committed one
  /// @param facts what a planner asks
  /// @param rowCount live rows of a table by its number, approximately
  public StatementPlans(
      int capacity,
      Supplier<CatalogSnapshot> catalog,
      StatisticsKeeper statistics,
      LiveTables facts,
      LongUnaryOperator rowCount) {
    this.cache = new PlanCache(capacity);
    this.catalog = catalog;
    this.statistics = statistics;
    this.facts = facts;
    this.rowCount = rowCount;
  }

  /// The first plan takes most of a second (class loading, generated metadata handlers): not in front of a user, and not beside the start.
  public void warmUp() {
    for (String sql :
        List.of(
            "select 1",
            "select table_name, count(*) from kakehashi_catalog.columns where table_schema = $1"
                + " group by table_name order by 2 desc limit 10",
            "select t.table_name from kakehashi_catalog.tables t"
                + " join kakehashi_catalog.columns c on t.table_name = c.table_name"
                + " join kakehashi_catalog.indexes i on i.table_name = c.table_name"
                + " where exists (select 1 from kakehashi_catalog.indexes x where x.table_name = t.table_name)")) {
      try {
        SqlFront.prepare(sql, new int[0], catalog.get(), facts, Zone.UTC, RoleSet.SUPERUSER);
      } catch (RuntimeException failed) {
        LOG.warn("could not warm up the planner", failed);
      }
    }
  }

  /// Plans a statement, or takes the cached plan.
  ///
  /// @param snapshot the catalogue as its transaction sees it
  /// @param zone of the session
  /// @param role whose rights count
  /// @throws EngineException INSUFFICIENT_PRIVILEGE if it may not run the plan
  public StatementPlan plan(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone, long role) {
    StatementPlan plan = made(sql, parameterOids, snapshot, zone, role);
    allow(plan, snapshot, role);
    return plan;
  }

  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  public void allow(StatementPlan plan, CatalogSnapshot snapshot, long role) {
    if (!plan.allowed().has(role)) {
      plan.prepared().needs().check(snapshot, role);
      plan.allowed().add(role);
    }
  }

  private StatementPlan made(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone, long role) {
    StatementPlan found = cached(sql, parameterOids, snapshot, zone);
    if (found != null) {
      return found;
    }
    // Statistics that change while the plan is made may have been seen or not: it is made again
    // then.
    long before = statistics.planVersion();
    Prepared prepared = SqlFront.prepare(sql, parameterOids, snapshot, facts, zone, role);
    if (prepared.columns().size() > MAX_RESULT_COLUMNS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "target lists can have at most " + MAX_RESULT_COLUMNS + " entries");
    }
    long[] tables =
        switch (prepared) {
          case Prepared.Planned planned -> planned.estimates().tables();
          case Prepared.Dump dump -> dump.query().estimates().tables();
          default -> new long[0];
        };
    PlanBasis basis = new PlanBasis(statistics, before, tables, rowCount);
    PlanRunner runner =
        switch (prepared) {
          case Prepared.Planned planned -> PlanRunner.of(planned.plan(), planned.parameterOids());
          case Prepared.Measured measured ->
              PlanRunner.measured(
                  measured.statement().plan(), measured.parameterOids(), measured.report());
          case Prepared.Dump dump -> new DumpRunner(dump);
          default -> null;
        };
    StatementPlan plan =
        new StatementPlan(
            prepared,
            runner,
            snapshot.version(),
            basis,
            new AllowedRoles(),
            prepared.zoned() ? zone.name() : null,
            ReceiveCall.of(prepared));
    if (prepared.reusable() && snapshot == catalog.get()) {
      cache.add(sql, parameterOids, plan);
    }
    return plan;
  }

  /// The plan that is kept, if it still stands; null: there is none. Whether a role may run it, [#allow] says.
  public @Nullable StatementPlan cached(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone) {
    StatementPlan cached = cache.find(sql, parameterOids, snapshot.version(), zone.name());
    if (cached == null) {
      return null;
    }
    return cached.basis().isCurrent() && !cached.basis().hasGrown(rowCount) ? cached : null;
  }
}
