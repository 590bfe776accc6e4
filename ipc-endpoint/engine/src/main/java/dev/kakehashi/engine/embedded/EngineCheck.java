package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogCheck;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.exec.reference.ReferenceLookup;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.sql.binder.ViewBinder;
import dev.kakehashi.engine.sql.table.ReferenceBinder;
import dev.kakehashi.engine.store.StoreCheck;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Verifies the files of an embedded engine that does not run: see [StoreCheck], and the catalogue besides.
public final class EngineCheck {
  private EngineCheck() {}

  /// Changes nothing. The caller sees to it that no engine has the directory open.
  ///
  /// @param config the memory limit has to suffice for the rows and indexes
  /// @param report hears what was looked at and every problem
  public static void run(StoreConfig config, CheckListener report) {
    try (StoreCheck check = StoreCheck.open(config, report)) {
      if (check == null) {
        return;
      }
      Map<Long, TableDefinition> definitions = check.definitions();
      CatalogSnapshot catalog =
          CatalogCheck.run(check.catalog(), definitions, check.sequencePositions(), report);
      for (View view : catalog.views()) {
        try {
          ViewBinder.check(view, catalog);
        } catch (EngineException e) {
          report.problem(
              "view \"%s\".\"%s\" cannot be read: %s"
                  .formatted(view.schema(), view.name(), e.getMessage()));
        }
      }
      check.rows(
          tableId -> {
            Table table = catalog.table(tableId);
            return table == null ? "table " + tableId : CatalogCheck.name(table);
          },
          deferrableKeys(catalog),
          store -> {
            List<String> problems = references(store, catalog, report);
            problems.addAll(RuleCheck.run(store, catalog, report));
            problems.addAll(CheckedQueues.run(store, catalog.queues(), report));
            return problems;
          });
    } catch (EngineException e) {
      report.problem(String.valueOf(e.getMessage()));
    }
  }

  /// Indexes whose keys are unique when a transaction has ended, which the store does not see to.
  private static Set<Long> deferrableKeys(CatalogSnapshot catalog) {
    return catalog.tables().stream()
        .flatMap(table -> table.indexes().stream())
        .filter(index -> index.unique() && index.deferrable())
        .map(Index::indexId)
        .collect(Collectors.toSet());
  }

  /// Whether every row references what is there, as far as it is committed.
  private static List<String> references(
      Store store, CatalogSnapshot catalog, CheckListener report) {
    List<String> problems = new ArrayList<>();
    for (Rule rule : ReferenceBinder.all(catalog)) {
      long violations = 0;
      long rows = 0;
      StoreTransaction reader = store.begin(true, false);
      ReadView view = reader.beginStatement();
      TableStore table = store.table(rule.referencing().tableId());
      try (ReferenceLookup lookup = new ReferenceLookup(rule, store, view);
          VectorBatch batch = new VectorBatch(rule.referencing().columns().length);
          RowCursor cursor =
              table.scan(view, 0, table.pageCount(), rule.referencing().columns(), false)) {
        while (cursor.next(batch)) {
          rows += batch.liveRows();
          violations += lookup.violations(batch);
        }
      } finally {
        reader.abort();
      }
      String name =
          "table \"%s\".\"%s\": foreign key \"%s\": "
              .formatted(rule.referencing().schema(), rule.referencing().table(), rule.name());
      report.checked(name + rows + " rows");
      if (violations > 0) {
        problems.add(name + violations + " rows reference what is not there");
      }
    }
    return problems;
  }
}
