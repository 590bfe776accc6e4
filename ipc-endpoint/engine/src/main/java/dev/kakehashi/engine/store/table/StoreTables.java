package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.BoxedIds;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.version.StoreParts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The tables of a store, by their numbers. Thread-safe.
public final class StoreTables {
  private final StoreParts parts;
  private final GarbageCollector collector;
  private final Map<Long, RowTable> tables = new ConcurrentHashMap<>();

  public StoreTables(StoreParts parts, GarbageCollector collector) {
    this.parts = parts;
    this.collector = collector;
  }

  public RowTable add(TableDefinition definition) {
    RowTable table = new RowTable(parts, collector, definition);
    if (tables.putIfAbsent(definition.tableId(), table) != null) {
      throw new IllegalArgumentException("table %d exists".formatted(definition.tableId()));
    }
    return table;
  }

  public @Nullable RowTable find(long tableId) {
    return tables.get(BoxedIds.of(tableId));
  }

  /// @throws IllegalArgumentException if there is no such table
  public RowTable require(long tableId) {
    RowTable table = find(tableId);
    if (table == null) {
      throw new IllegalArgumentException("no table " + tableId);
    }
    return table;
  }

  public void forget(long tableId) {
    tables.remove(tableId);
  }

  public List<RowTable> all() {
    return new ArrayList<>(tables.values());
  }
}
