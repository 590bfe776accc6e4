package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.table.TableExpressions;

/// The transaction that a load has for itself.
public final class LoadTransaction {
  private LoadTransaction() {}

  /// A long one that preserves the table, so that the load commits however long it reads: otherwise a row that somebody else inserts
  /// meanwhile may end it.
  ///
  /// A load in batches has short ones. So has one into a table that references others: a long one would keep everybody from writing these
  /// as well.
  ///
  /// @param asked by the client: what it has chosen itself stays
  public static BeginOptions options(
      BeginOptions asked, Prepared.Load load, CatalogSnapshot catalog) {
    if (asked.kind() != BeginOptions.Kind.OCC
        || load.isInBatches()
        || !load.request().control().writePreserve()) {
      return asked;
    }
    PhysicalPlan.Target target = load.plan().target();
    Table table = catalog.table(target.schema(), target.table());
    if (table == null || referencesOthers(table)) {
      return asked;
    }
    String name =
        TableExpressions.quoted(target.schema()) + "." + TableExpressions.quoted(target.table());
    return new BeginOptions(
        BeginOptions.Kind.LTX,
        asked.isolation(),
        asked.label().isEmpty() ? "COPY " + target.schema() + "." + target.table() : asked.label(),
        asked.priority(),
        asked.timeoutNanos(),
        new Areas(name, "", ""));
  }

  private static boolean referencesOthers(Table table) {
    return table.foreignKeys().stream().anyMatch(key -> key.referencedId() != table.tableId());
  }
}
