package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Rows of a table by its primary key, straight from the index, within a call. Used by the call's thread.
final class KeyLookup {
  private final CallAccess access;
  private final Table table;
  private final TableStore store;

  /// Position in the store's definition.
  private final int index;

  private final int[] keyOids;
  private final int[] columns;
  private final int[] oids;
  private final VectorBatch batch;

  /// The last scan; the next one opens it again.
  private @Nullable RowCursor closed;

  /// @param names of the columns that are wanted
  KeyLookup(CallAccess access, Table table, List<String> names) {
    this.access = access;
    this.table = table;
    store = access.engine().store().table(table.tableId());
    Index primary = Objects.requireNonNull(table.primaryKey());
    index = position(store, primary.indexId());
    keyOids =
        primary.columns().stream()
            .mapToInt(each -> table.columns().get(each).type().oid())
            .toArray();
    columns = names.stream().mapToInt(table::columnIndex).toArray();
    oids = new int[columns.length];
    for (int i = 0; i < columns.length; i++) {
      if (columns[i] < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "column \"%s\" of relation \"%s\" does not exist"
                .formatted(names.get(i), table.name()));
      }
      oids[i] = table.columns().get(columns[i]).type().oid();
    }
    batch = access.oneRow(columns.length);
  }

  static int position(TableStore store, long indexId) {
    for (int i = 0; i < store.definition().indexes().size(); i++) {
      if (store.definition().indexes().get(i).indexId() == indexId) {
        return i;
      }
    }
    throw new IllegalStateException("the store has no index " + indexId);
  }

  /// Whether the table is still what it was.
  @SuppressWarnings("ReferenceEquality") // versions share what has not changed
  boolean fits(Table now) {
    return now == table;
  }

  /// @param key one value for each column
  /// @return null: there is none
  @Nullable Object @Nullable [] find(Object[] key) {
    access.enter();
    VarHeap heap = access.keyHeap();
    try {
      long[] words = new long[keyOids.length];
      for (int i = 0; i < words.length; i++) {
        words[i] =
            JavaValues.ofObject(keyOids[i], ObjectParameters.widened(keyOids[i], key[i]), heap);
      }
      return find(words);
    } finally {
      batch.reset();
      heap.reset();
      access.leave();
    }
  }

  private @Nullable Object @Nullable [] find(long[] words) {
    StoreTransaction transaction = access.call().transaction();
    if (access.readsNewest()) {
      transaction.refreshSnapshot();
    }
    ReadView view = transaction.beginStatement();
    RowCursor cursor =
        store.indexScan(view, index, KeyRange.equal(words), false, columns, false, closed);
    closed = cursor;
    try {
      return cursor.next(batch) ? values() : null;
    } finally {
      cursor.close();
    }
  }

  private @Nullable Object[] values() {
    @Nullable Object[] values = new @Nullable Object[oids.length];
    for (int i = 0; i < oids.length; i++) {
      if (!batch.columns[i].isNull(0)) {
        values[i] = JavaValues.toObject(oids[i], batch.columns[i].words[0]);
      }
    }
    return values;
  }
}
