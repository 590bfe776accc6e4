package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.Store.CatalogChange;
import dev.kakehashi.engine.store.log.LogRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A set of catalogue changes on its way: prepared in memory, then durable, then published; or undone. Used by the holder of the catalogue's lock.
///
/// Tables and indexes that are added exist while they are prepared: writers maintain a new index before it is complete.
final class CatalogChanges {
  private final MemoryStore store;
  private final Map<String, byte[]> entries;
  private final LogRecord record = new LogRecord(256);
  private final List<Runnable> undo = new ArrayList<>();
  private final List<Runnable> publish = new ArrayList<>();

  CatalogChanges(MemoryStore store, Map<String, byte[]> present) {
    this.store = store;
    this.entries = new TreeMap<>(present);
  }

  void prepare(CatalogChange change) {
    switch (change) {
      case CatalogChange.Put put -> {
        record.put(StoreKeys.catalog(put.key()), put.value());
        entries.put(put.key(), put.value().clone());
      }
      case CatalogChange.Remove remove -> {
        byte[] key = StoreKeys.catalog(remove.key());
        record.delete(key, key.length);
        entries.remove(remove.key());
      }
      case CatalogChange.CreateTable create -> createTable(create.definition());
      case CatalogChange.DropTable drop -> dropTable(drop.tableId());
      case CatalogChange.CreateIndex create -> createIndex(create);
      case CatalogChange.DropIndex drop -> dropIndex(drop.tableId(), drop.indexId());
    }
  }

  private void createTable(TableDefinition definition) {
    RowTable table = store.addTable(definition);
    undo.add(() -> {
      store.forgetTable(definition.tableId());
      table.drop();
      store.freeLater(table::free);
    });
    record.put(StoreKeys.table(definition.tableId()), DefinitionCodec.encode(definition));
  }

  private void dropTable(long tableId) {
    RowTable table = require(tableId);
    store.checkNotInUse(table);
    byte[] key = StoreKeys.table(tableId);
    record.delete(key, key.length);
    record.deleteRange(StoreKeys.row(tableId, 0), StoreKeys.row(tableId + 1, 0));
    publish.add(() -> {
      store.forgetTable(tableId);
      table.drop();
      store.freeLater(table::free);
    });
  }

  private void createIndex(CatalogChange.CreateIndex create) {
    RowTable table = require(create.tableId());
    if (table.indexById(create.index().indexId()) != null) {
      throw new IllegalArgumentException("index %d exists".formatted(create.index().indexId()));
    }
    TableIndex index = new TableIndex(table.definition(), create.index(), store.pool());
    table.addIndex(index);
    undo.add(() -> {
      table.removeIndex(index);
      store.freeLater(index.tree::free);
    });
    RowTransaction reader = (RowTransaction) store.begin(true, false);
    try {
      store.collector().whileNothingIsFreed(horizon -> table.buildIndex(reader, index, horizon));
    } finally {
      reader.abort();
    }
    record.put(StoreKeys.table(create.tableId()), DefinitionCodec.encode(table.definition()));
  }

  private void dropIndex(long tableId, long indexId) {
    RowTable table = require(tableId);
    TableIndex index = table.indexById(indexId);
    if (index == null) {
      throw new IllegalArgumentException("table %d has no index %d".formatted(tableId, indexId));
    }
    // Writers maintain it until the change is durable; only the definition that is written leaves
    // it out.
    TableDefinition present = table.definition();
    TableDefinition without =
        new TableDefinition(
            present.tableId(),
            present.columns(),
            present.notNull(),
            present.indexes().stream().filter(other -> other.indexId() != indexId).toList());
    record.put(StoreKeys.table(tableId), DefinitionCodec.encode(without));
    publish.add(() -> {
      table.removeIndex(index);
      store.freeLater(index.tree::free);
    });
  }

  private RowTable require(long tableId) {
    RowTable table = store.findTable(tableId);
    if (table == null) {
      throw new IllegalArgumentException("no table " + tableId);
    }
    return table;
  }

  LogRecord record() {
    return record;
  }

  /// Takes back what was prepared.
  void undo() {
    for (int i = undo.size() - 1; i >= 0; i--) {
      undo.get(i).run();
    }
  }

  /// Makes removals effective.
  ///
  /// @return the new catalogue
  Map<String, byte[]> publish() {
    publish.forEach(Runnable::run);
    return Collections.unmodifiableMap(entries);
  }
}
