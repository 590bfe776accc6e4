package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.index.Varlena;
import dev.kakehashi.engine.store.log.OfflineLog;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.NativeInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Verifies the store of a data directory that no process has open, and changes nothing in it.
///
/// First what lies on the disk: the checksums of the base image's files and of the log, the definitions, then every row: whether it decodes, lies where a row can
/// be, and keeps NOT NULL. If all that holds the store is recovered in memory, as a start does it, and its indexes are compared with its rows ([IndexCheck]).
/// So the second part needs the memory that an endpoint needs. Confined to one thread.
public final class StoreCheck implements AutoCloseable {
  /// Who hears of the results.
  public interface Report {
    /// Something was looked at and is as it should be, or is worth knowing.
    void checked(String what);

    /// Something is wrong.
    void problem(String what);
  }

  private final OfflineLog log;
  private final Report report;
  private final long memoryLimitBytes;
  private final Map<Long, TableDefinition> tables = new TreeMap<>();
  private int problems;
  private boolean owned = true;

  private StoreCheck(OfflineLog log, Report report, long memoryLimitBytes) {
    this.log = log;
    this.report = report;
    this.memoryLimitBytes = memoryLimitBytes;
  }

  /// Verifies the files.
  ///
  /// @param directory the store's
  /// @param memoryLimitBytes as in [StoreConfig]
  /// @return what goes on with the content; null if the files cannot be read
  public static @Nullable StoreCheck open(Path directory, long memoryLimitBytes, Report report) {
    try {
      DataDirectory.checkFormat(directory);
      Path image = DataDirectory.database(directory);
      OfflineLog.verifyImage(image)
          .forEach((file, reason) ->
              report.problem("base image: file \"%s\": %s".formatted(file, reason)));
      OfflineLog log = OfflineLog.open(DataDirectory.log(directory), image);
      OfflineLog.Extent extent = log.extent();
      report.checked("base image: %d sorted files, checksums read".formatted(log.imageFiles()));
      report.checked(
          "log: %d groups in %d segments, %d bytes, checksums hold"
              .formatted(extent.groups(), extent.segments(), extent.bytes()));
      if (!extent.cutOff().isEmpty()) {
        report.checked("log: ends before " + extent.cutOff());
      }
      return new StoreCheck(log, report, memoryLimitBytes);
    } catch (EngineException e) {
      report.problem(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      report.problem("could not read \"%s\": %s".formatted(directory, e));
    }
    return null;
  }

  /// Entries of the catalogue.
  ///
  /// @throws EngineException DATA_CORRUPTED
  public Map<String, byte[]> catalog() {
    return StoreImage.catalog(log);
  }

  /// Definitions of the tables that can be read.
  public Map<Long, TableDefinition> definitions() {
    tables.clear();
    long[] nextId = {0};
    StoreImage.scanKind(log, StoreKeys.NEXT_ID, (key, value) -> nextId[0] = value.getLong());
    StoreImage.scanKind(log, StoreKeys.TABLE, (key, value) -> readDefinition(key, value));
    for (TableDefinition table : tables.values()) {
      requireBelow(nextId[0], "table", table.tableId());
      table.indexes().forEach(index -> requireBelow(nextId[0], "index", index.indexId()));
    }
    return Map.copyOf(tables);
  }

  /// Where sequences stand, by the numbers of their states. There may be more than sequences: those of transactions that were undone.
  public Map<Long, SequencePosition> sequencePositions() {
    return StoreImage.sequences(log);
  }

  private void readDefinition(ByteBuffer key, ByteBuffer value) {
    long tableId = key.getLong(1);
    try {
      TableDefinition definition = DefinitionCodec.decode(StoreImage.bytes(value));
      if (definition.tableId() == tableId) {
        tables.put(tableId, definition);
      } else {
        problem("definition of table %d names table %d".formatted(tableId, definition.tableId()));
      }
    } catch (IOException e) {
      problem("definition of table %d cannot be read: %s".formatted(tableId, e.getMessage()));
    }
  }

  private void requireBelow(long nextId, String kind, long id) {
    if (id >= nextId) {
      problem("%s %d has a number that was not given out".formatted(kind, id));
    }
  }

  /// Verifies rows and indexes; after [#definitions()], and last.
  ///
  /// @param names what tables are called
  /// @param uniqueIndexes indexes whose keys are unique although the store does not refuse duplicates
  /// @param further looks at the recovered store, and says what is wrong with it
  public void rows(
      LongFunction<String> names, Set<Long> uniqueIndexes, Function<Store, List<String>> further) {
    try (MemoryPool scratch = new MemoryPool(memoryLimitBytes)) {
      RowCheck rows = new RowCheck(names, scratch);
      log.read(StoreKeys.of(StoreKeys.ROW), StoreKeys.of(StoreKeys.ROW + 1), rows::row);
      rows.end();
    } catch (EngineException e) {
      problem(String.valueOf(e.getMessage()));
    }
    if (problems == 0) {
      recover(names, uniqueIndexes, further);
    }
  }

  private void recover(
      LongFunction<String> names, Set<Long> uniqueIndexes, Function<Store, List<String>> further) {
    owned = false;
    try (MemoryStore store = MemoryStore.open(log, memoryLimitBytes)) {
      int prepared = store.prepared().size();
      if (prepared > 0) {
        report.checked("%d prepared transactions".formatted(prepared));
      }
      IndexCheck.run(
          store,
          names,
          uniqueIndexes,
          new Report() {
            @Override
            public void checked(String what) {
              report.checked(what);
            }

            @Override
            public void problem(String what) {
              StoreCheck.this.problem(what);
            }
          });
      further.apply(store).forEach(this::problem);
    } catch (EngineException e) {
      problem(String.valueOf(e.getMessage()));
    }
  }

  private void problem(String what) {
    problems++;
    report.problem(what);
  }

  /// The rows as they lie on the disk, in one pass.
  private final class RowCheck {
    private final LongFunction<String> names;
    private final MemoryPool scratch;
    private final Map<Long, Long> counts = new TreeMap<>();
    private final Map<Long, Long> orphans = new TreeMap<>();
    private @Nullable TableDefinition table;
    private RowLayout layout;
    private boolean[] live = {};
    private RowVersion version = new RowVersion(0);

    RowCheck(LongFunction<String> names, MemoryPool scratch) {
      this.names = names;
      this.scratch = scratch;
      this.layout = new RowLayout(Placement.of(List.of(), true), scratch);
      tables.keySet().forEach(id -> counts.put(id, 0L));
    }

    void row(NativeInput key, NativeInput value) {
      if (key.remaining() != StoreKeys.ROW_KEY_BYTES) {
        problem("a row has a key of %d bytes".formatted(key.remaining()));
        return;
      }
      long tableId = key.longAt(1);
      long rowId = key.longAt(9);
      TableDefinition definition = definition(tableId);
      if (definition == null) {
        orphans.merge(tableId, 1L, Long::sum);
        return;
      }
      counts.merge(tableId, 1L, Long::sum);
      if (rowId < 0 || (rowId & (1 << Page.SLOT_BITS) - 1) >= layout.rows) {
        problem("%s: there can be no row %d".formatted(names.apply(tableId), rowId));
        return;
      }
      try {
        RowCodec.decode(layout, live, value, scratch, version);
      } catch (EngineException e) {
        problem("%s: row %d: %s".formatted(names.apply(tableId), rowId, e.getMessage()));
        return;
      }
      for (int c = 0; c < definition.columns().size(); c++) {
        if (version.nulls[definition.placement().position(c)] && definition.notNull().get(c)) {
          problem(
              "%s: row %d: column %d is null, but NOT NULL"
                  .formatted(names.apply(tableId), rowId, c + 1));
        }
      }
      for (int c : layout.byReference) {
        long word = version.words[c];
        if (layout.isOwned(c, word)) {
          scratch.free(word, Varlena.bytes(layout.kinds[c], word));
        }
      }
    }

    private @Nullable TableDefinition definition(long tableId) {
      if (table == null || table.tableId() != tableId) {
        table = tables.get(tableId);
        if (table != null) {
          layout.freeMissing(scratch);
          layout = new RowLayout(table.placement(), scratch);
          live = table.placement().live();
          version = new RowVersion(layout.columns);
        }
      }
      return table;
    }

    void end() {
      counts.forEach((tableId, count) ->
          report.checked("%s: %d rows decode".formatted(names.apply(tableId), count)));
      orphans.forEach((tableId, count) ->
          report.checked("table %d was dropped: %d rows are left of it".formatted(tableId, count)));
    }
  }

  /// What an index is called in a message.
  static String describe(String table, IndexDefinition index) {
    return "%s: index \"%s\"".formatted(table, index.name());
  }

  @Override
  public void close() {
    if (owned) {
      log.close();
    }
  }
}
