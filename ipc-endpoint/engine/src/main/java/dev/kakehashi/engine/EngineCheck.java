package dev.kakehashi.engine;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.CatalogCheck;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.sql.ViewBinder;
import dev.kakehashi.engine.store.StoreCheck;
import dev.kakehashi.engine.store.StoreConfig;
import dev.kakehashi.engine.store.TableDefinition;
import java.util.Map;

/// Verifies the files of an embedded engine that does not run: see [StoreCheck], and the catalogue besides.
public final class EngineCheck {
  private EngineCheck() {}

  /// Changes nothing. The caller sees to it that no engine has the directory open.
  ///
  /// @param config the memory limit has to suffice for the rows and indexes
  /// @param report hears what was looked at and every problem
  public static void run(StoreConfig config, StoreCheck.Report report) {
    try (StoreCheck check =
        StoreCheck.open(config.directory(), config.memoryLimitBytes(), report)) {
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
      check.rows(tableId -> {
        Table table = catalog.table(tableId);
        return table == null ? "table " + tableId : CatalogCheck.name(table);
      });
    } catch (EngineException e) {
      report.problem(String.valueOf(e.getMessage()));
    }
  }
}
