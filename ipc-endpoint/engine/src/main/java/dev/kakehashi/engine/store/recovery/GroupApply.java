package dev.kakehashi.engine.store.recovery;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableGuard;
import dev.kakehashi.engine.store.durable.DefinitionCodec;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StandbyLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.transaction.RowTransaction;
import dev.kakehashi.engine.store.transaction.StoreTransactions;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Applies one group of a primary's log to a standby's store, as one transaction.
///
/// A group has the changes of several commits, and of each the rows before the definitions. So tables get their form of the group's end
/// first, as they do when a start reads the base image: it can be told of each row what form it has. Then come the rows in their order, and
/// then new indexes, which are unique at the end of the group and may not be so before.
///
/// Prepared transactions are noted. Their changes, outcomes and changes of queues are not applied: nobody reads them
/// before the promotion, which starts the store anew.
final class GroupApply {
  /// Memory outside of the heap for one row on its way, of the thread that applies: a group is too little to take it anew.
  static final class Scratch {
    private static final int FIRST_BYTES = 64 << 10;

    private ByteBuffer bytes = ByteBuffer.allocateDirect(FIRST_BYTES);
    private final NativeInput input = NativeInput.of(bytes);

    /// @param version gets the row
    private void decode(RowTable table, byte[] value, RowVersion version) {
      if (bytes.capacity() < value.length) {
        bytes = ByteBuffer.allocateDirect(Math.max(value.length, 2 * bytes.capacity()));
      }
      bytes.clear().put(value).flip();
      input.set(MemorySegment.ofBuffer(bytes).address(), value.length);
      try {
        table.form.decode(input, table.pool, version);
      } finally {
        Reference.reachabilityFence(bytes);
      }
    }
  }

  private final StoreTransactions store;
  private final TableGuard guard;
  private final StandbyLog.Group group;
  private final FollowedPrepared.Changes prepared;

  /// Tables that get a form; null: that are dropped.
  private final Map<Long, @Nullable TableDefinition> forms = new LinkedHashMap<>();

  private final List<CatalogChange> entries = new ArrayList<>();

  /// Where sequences stand; null: that are gone.
  private final Map<Long, @Nullable SequencePosition> sequences = new LinkedHashMap<>();

  private final Scratch scratch;
  private final Map<RowTable, RowVersion> versions = new HashMap<>();

  GroupApply(
      StoreTransactions store,
      TableGuard guard,
      StandbyLog.Group group,
      FollowedPrepared prepared,
      Scratch scratch) {
    this.scratch = scratch;
    this.store = store;
    this.guard = guard;
    this.group = group;
    this.prepared = prepared.new Changes();
  }

  void run() throws InterruptedException {
    group.forEach(
        new LogRecord.Changes() {
          @Override
          public void put(byte[] key, byte[] value) {
            noteDefinition(key, value);
          }

          @Override
          public void delete(byte[] key) {
            noteDefinition(key, null);
          }

          @Override
          public void deleteRange(byte[] from, byte[] to) {
            // A dropped table goes by its definition.
            prepared.deleteRange(from);
          }
        });
    Set<Long> changed = changedForms();
    if (changed.isEmpty()) {
      apply();
      return;
    }
    Runnable release = guard.exclude(changed);
    try {
      apply();
    } finally {
      release.run();
    }
  }

  private void noteDefinition(byte[] key, byte @Nullable [] value) {
    switch (key[0]) {
      case StoreKeys.TABLE -> forms.put(number(key, 1), value == null ? null : definition(value));
      case StoreKeys.SEQUENCE -> sequences.put(number(key, 1), value == null ? null : at(value));
      case StoreKeys.PREPARED -> {
        if (value != null) {
          prepared.put(key, value);
        }
      }
      case StoreKeys.CATALOG -> {
        String name = new String(key, 1, key.length - 1, StandardCharsets.UTF_8);
        entries.add(
            value == null ? new CatalogChange.Remove(name) : new CatalogChange.Put(name, value));
      }
      default -> {
        // Rows come later; the others mean nothing to readers.
      }
    }
  }

  private static long number(byte[] key, int at) {
    return ByteBuffer.wrap(key).getLong(at);
  }

  private static SequencePosition at(byte[] value) {
    ByteBuffer from = ByteBuffer.wrap(value);
    return new SequencePosition(from.getLong(), from.get() != 0);
  }

  private static TableDefinition definition(byte[] value) {
    try {
      return DefinitionCodec.decode(value);
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "the primary's log has a table definition that cannot be read: " + e.getMessage(),
          e);
    }
  }

  /// Tables that readers have to leave: they are dropped, or get another form. A new index alone disturbs nobody.
  private Set<Long> changedForms() {
    Set<Long> changed = new HashSet<>();
    forms.forEach((id, next) -> {
      RowTable table = store.tables().find(id);
      if (table != null && !(next != null && isOnlyMoreIndexes(table.definition(), next))) {
        changed.add(id);
      }
    });
    return changed;
  }

  private static boolean isOnlyMoreIndexes(TableDefinition now, TableDefinition next) {
    return now.placement().equals(next.placement())
        && now.columns().equals(next.columns())
        && now.notNull().equals(next.notNull())
        && next.indexes().size() >= now.indexes().size()
        && next.indexes().subList(0, now.indexes().size()).equals(now.indexes());
  }

  private void apply() {
    RowTransaction transaction = store.begin(false, false);
    boolean applied = false;
    try {
      for (Map.Entry<Long, @Nullable TableDefinition> form : forms.entrySet()) {
        reform(transaction, form.getKey(), form.getValue());
      }
      rows(transaction);
      forms.forEach((id, next) -> {
        if (next != null) {
          addIndexes(transaction, next);
        }
      });
      entries.forEach(transaction::redefine);
      applied = true;
    } finally {
      if (!applied) {
        transaction.abort();
      }
    }
    sequences.forEach((id, position) -> {
      if (position == null) {
        store.sequences().remove(id);
      } else {
        store.sequences().put(id, position);
      }
    });
    if (transaction.hasWrites()) {
      transaction.applied();
    } else {
      transaction.abort();
    }
    prepared.applied();
  }

  private void reform(RowTransaction transaction, long id, @Nullable TableDefinition next) {
    RowTable table = store.tables().find(id);
    if (next == null) {
      if (table != null) {
        transaction.redefine(new CatalogChange.DropTable(id));
      }
      return;
    }
    if (table == null) {
      transaction.redefine(new CatalogChange.CreateTable(next));
      // Nobody but this thread gives timestamps on a standby.
      store.tables().require(id).madeAt(store.parts().clock().published() + 1);
      return;
    }
    Set<Long> kept = new HashSet<>();
    next.indexes().forEach(index -> kept.add(index.indexId()));
    for (IndexDefinition index : table.definition().indexes()) {
      if (!kept.contains(index.indexId())) {
        transaction.redefine(new CatalogChange.DropIndex(id, index.indexId()));
      }
    }
    TableDefinition now = table.definition();
    if (!now.placement().equals(next.placement()) || !now.columns().equals(next.columns())) {
      transaction.redefine(new CatalogChange.Reshape(next, List.of()));
    } else if (!isOnlyMoreIndexes(now, next)) {
      transaction.redefine(new CatalogChange.Redefine(next));
    }
  }

  private void addIndexes(RowTransaction transaction, TableDefinition next) {
    RowTable table = store.tables().require(next.tableId());
    for (IndexDefinition index : next.indexes()) {
      if (table.form.indexById(index.indexId()) == null) {
        transaction.redefine(new CatalogChange.CreateIndex(next.tableId(), index));
      }
    }
  }

  private void rows(RowTransaction transaction) {
    group.forEachWithFiles(
        new LogRecord.Changes() {
          @Override
          public void put(byte[] key, byte[] value) {
            if (key[0] == StoreKeys.ROW) {
              row(transaction, key, value);
            }
          }

          @Override
          public void delete(byte[] key) {
            if (key[0] == StoreKeys.ROW) {
              row(transaction, key, null);
            }
          }

          @Override
          public void deleteRange(byte[] from, byte[] to) {
            // A table is dropped: it is gone as a whole.
          }
        });
  }

  private void row(RowTransaction transaction, byte[] key, byte @Nullable [] value) {
    long id = number(key, 1);
    RowTable table = store.tables().find(id);
    if (table == null || (forms.containsKey(id) && forms.get(id) == null)) {
      return; // dropped by a later commit of the group, or made and dropped in it
    }
    table.replay(transaction, number(key, 9), value == null ? null : version(table, value));
  }

  private RowVersion version(RowTable table, byte[] value) {
    RowVersion version =
        versions.computeIfAbsent(table, of -> new RowVersion(of.form.layout.columns));
    scratch.decode(table, value, version);
    return version;
  }
}
