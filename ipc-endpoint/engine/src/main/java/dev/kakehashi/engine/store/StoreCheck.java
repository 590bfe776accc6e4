package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.engine.store.check.IndexCheck;
import dev.kakehashi.engine.store.check.QueueCopy;
import dev.kakehashi.engine.store.check.RowCheck;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.durable.DefinitionCodec;
import dev.kakehashi.engine.store.durable.StoreImage;
import dev.kakehashi.engine.store.log.OfflineLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.MemoryPool;
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
/// First what lies on the disk: the checksums of the base image's files and of the log, the definitions, then every row: whether it
/// decodes, lies where a row can be, and keeps NOT NULL. If all that holds the store is recovered in memory, as a start does it, and its
/// indexes are compared with its rows ([IndexCheck]). So the second part needs the memory that an endpoint needs. Confined to one thread.
public final class StoreCheck implements AutoCloseable {
  private final OfflineLog log;
  private final CheckListener report;
  private final long memoryLimitBytes;
  private final @Nullable QueueCopy queues;
  private final Map<Long, TableDefinition> tables = new TreeMap<>();
  private int problems;

  /// Passes on what it hears, and counts problems.
  private final CheckListener counted =
      new CheckListener() {
        @Override
        public void checked(String what) {
          report.checked(what);
        }

        @Override
        public void problem(String what) {
          StoreCheck.this.problem(what);
        }
      };

  private boolean owned = true;

  private StoreCheck(
      OfflineLog log, CheckListener report, long memoryLimitBytes, @Nullable QueueCopy queues) {
    this.queues = queues;
    this.log = log;
    this.report = report;
    this.memoryLimitBytes = memoryLimitBytes;
  }

  /// Verifies the files.
  ///
  /// @param config of the store; with queues, they are looked at in a copy of their files
  /// @return what goes on with the content; null if the files cannot be read
  public static @Nullable StoreCheck open(StoreConfig config, CheckListener report) {
    Path directory = config.directory();
    QueueCopy queues = null;
    boolean opened = false;
    try {
      DataDirectory.checkFormat(directory);
      Path image = DataDirectory.database(directory);
      OfflineLog.verifyImage(image)
          .forEach((file, reason) ->
              report.problem("base image: file \"%s\": %s".formatted(file, reason)));
      QueueOpener opener = config.queues();
      QueueSystem copied = null;
      if (opener != null) {
        queues = QueueCopy.of(DataDirectory.queues(directory));
        copied = queues.open(opener);
      }
      OfflineLog log = OfflineLog.open(DataDirectory.log(directory), image, copied);
      OfflineLog.Extent extent = log.extent();
      report.checked("base image: %d sorted files, checksums read".formatted(log.imageFiles()));
      report.checked(
          "log: %d groups in %d segments, %d bytes, checksums hold"
              .formatted(extent.groups(), extent.segments(), extent.bytes()));
      if (!extent.cutOff().isEmpty()) {
        report.checked("log: ends before " + extent.cutOff());
      }
      opened = true;
      return new StoreCheck(log, report, config.memoryLimitBytes(), queues);
    } catch (EngineException e) {
      String hint = e.hint();
      report.problem(e.getMessage() + (hint.isEmpty() ? "" : ". " + hint));
    } catch (IOException e) {
      report.problem("could not read \"%s\": %s".formatted(directory, e));
    } finally {
      if (!opened && queues != null) {
        queues.close();
      }
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
      RowCheck rows = new RowCheck(tables, counted, names, scratch);
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
      IndexCheck.run(store.transactions(), names, uniqueIndexes, counted);
      further.apply(store).forEach(this::problem);
    } catch (EngineException e) {
      problem(String.valueOf(e.getMessage()));
    }
  }

  private void problem(String what) {
    problems++;
    report.problem(what);
  }

  @Override
  public void close() {
    if (owned) {
      log.close();
    }
    if (queues != null) {
      queues.close();
    }
  }
}
