package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.StoreCheck;
import dev.kakehashi.engine.store.TableDefinition;
import java.util.Map;
import java.util.TreeMap;

/// Compares the catalogue of a store with the tables that the store has.
public final class CatalogCheck {
  private CatalogCheck() {}

  /// @param entries of the catalogue
  /// @param stored definitions of the store's tables
  /// @return the tables by their numbers, as far as their entries can be read
  public static Map<Long, Table> run(
      Map<String, byte[]> entries, Map<Long, TableDefinition> stored, StoreCheck.Report report) {
    Map<Long, Table> tables = new TreeMap<>();
    entries.forEach((key, value) -> {
      if (key.startsWith(CatalogSnapshot.TABLE_KEY)) {
        try {
          Table table = CatalogCodec.decode(key, value);
          tables.put(table.tableId(), table);
        } catch (EngineException e) {
          report.problem(String.valueOf(e.getMessage()));
        }
      }
    });
    tables.forEach((tableId, table) -> {
      TableDefinition definition = stored.get(tableId);
      if (definition == null) {
        report.problem("%s: the store has no table %d".formatted(name(table), tableId));
      } else if (!definition.equals(table.definition())) {
        report.problem(
            "%s: the catalogue says %s, the store %s"
                .formatted(name(table), table.definition(), definition));
      }
    });
    stored.keySet().stream()
        .filter(tableId -> !tables.containsKey(tableId))
        .forEach(tableId ->
            report.problem("table %d of the store is not in the catalogue".formatted(tableId)));
    report.checked("catalogue: %d entries, %d tables".formatted(entries.size(), tables.size()));
    return tables;
  }

  /// What a table is called in a report.
  public static String name(Table table) {
    return "table \"%s\".\"%s\"".formatted(table.schema(), table.name());
  }
}
