package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Changes of single rows of a plain table, see [TableShape#plain], straight in the store, within a call. Used by the call's thread.
///
/// Whatever is not as simple as it seems - a key that is there, a row that somebody else changes, a null where none may be - is undone and
/// left to a statement, which waits, tries again, and reports as all do.
final class PlainWrites {
  private final CallAccess access;
  private final Table table;
  private final TableStore store;

  /// Position of the primary key's index in the store's definition; -1: there is none.
  private final int index;

  private final int[] key;

  /// Column of each value that is given.
  private final int[] columns;

  private final int[] all;
  private final VectorBatch batch;

  /// The last scan; the next one opens it again.
  private @Nullable RowCursor closed;

  private PlainWrites(CallAccess access, Table table, int[] columns) {
    this.access = access;
    this.table = table;
    this.columns = columns;
    store = access.engine().store().table(table.tableId());
    Index primary = table.primaryKey();
    index = primary == null ? -1 : KeyLookup.position(store, primary.indexId());
    key = primary == null ? new int[0] : primary.columns().stream().mapToInt(i -> i).toArray();
    all = IntStream.range(0, table.columns().size()).toArray();
    batch = access.oneRow(all.length);
  }

  /// @param given columns of the values that are given
  /// @return null: the table is not written like that
  static @Nullable PlainWrites of(
      CallAccess access, TableShape shape, List<DirectTable.Column> given) {
    if (!shape.plain() || !access.isShort()) {
      return null;
    }
    Table table = shape.form();
    int[] columns = given.stream().mapToInt(each -> table.columnIndex(each.name())).toArray();
    for (int column : columns) {
      if (column < 0 || !isKept(table.columns().get(column).type())) {
        return null;
      }
    }
    return new PlainWrites(access, table, columns);
  }

  /// Whether a value is stored as it is given, or its scale alone is changed.
  private static boolean isKept(SqlType type) {
    return type.typeModifier() < 0 || type.oid() == TypeOid.NUMERIC;
  }

  /// Whether a row can be inserted whose other columns have their defaults.
  boolean insertsAll() {
    for (int i = 0; i < all.length; i++) {
      int column = i;
      if (table.columns().get(i).defaultText() != null
          && IntStream.of(columns).noneMatch(each -> each == column)) {
        return false;
      }
    }
    return true;
  }

  /// @return false: nothing was done, it is left to a statement
  boolean insert(@Nullable Object[] values) {
    return access.within(() -> {
      batch.reset();
      try {
        for (int column : all) {
          batch.columns[column].setNull(0);
        }
        set(values);
        if (hasWrongNull()) {
          return false;
        }
        StoreTransaction transaction = begin();
        return changed(transaction, () -> store.insert(transaction, batch, 0) >= 0);
      } finally {
        batch.reset();
      }
    });
  }

  /// @param values of which those of the key find the row
  /// @return null: nothing was done, it is left to a statement; else whether there is such a row
  @Nullable Boolean update(@Nullable Object[] values) {
    return access.within(() -> {
      batch.reset();
      try {
        StoreTransaction transaction = begin();
        long rowId = find(transaction, place -> value(values, place), all);
        if (rowId < 0) {
          return false;
        }
        set(values);
        if (hasWrongNull()) {
          return null;
        }
        return changed(transaction, () -> store.update(transaction, rowId, batch, 0)) ? true : null;
      } finally {
        batch.reset();
      }
    });
  }

  /// @return null: nothing was done, it is left to a statement; else whether there is such a row
  @Nullable Boolean delete(Object[] keyValues) {
    return access.within(() -> {
      batch.reset();
      try {
        StoreTransaction transaction = begin();
        long rowId = find(transaction, place -> keyValues[place], all);
        if (rowId < 0) {
          return false;
        }
        return changed(transaction, () -> store.delete(transaction, rowId)) ? true : null;
      } finally {
        batch.reset();
      }
    });
  }

  private StoreTransaction begin() {
    StoreTransaction transaction = access.call().transaction();
    if (access.readsNewest()) {
      transaction.refreshSnapshot();
    }
    transaction.changeFor(0);
    return transaction;
  }

  private @Nullable Object value(@Nullable Object[] values, int place) {
    for (int i = 0; i < columns.length; i++) {
      if (columns[i] == key[place]) {
        return values[i];
      }
    }
    return null;
  }

  /// Gives a value of the key.
  private interface KeyValue {
    @Nullable Object at(int place);
  }

  /// The row of a key, which is in the batch then; -1: there is none.
  private long find(StoreTransaction transaction, KeyValue given, int[] wanted) {
    long[] words = new long[key.length];
    for (int i = 0; i < words.length; i++) {
      Object value = given.at(i);
      if (value == null) {
        return -1;
      }
      int oid = table.columns().get(key[i]).type().oid();
      words[i] = JavaValues.ofObject(oid, ObjectParameters.widened(oid, value), access.keyHeap());
    }
    RowCursor cursor =
        store.indexScan(
            transaction.beginStatement(),
            index,
            KeyRange.equal(words),
            false,
            wanted,
            true,
            closed);
    closed = cursor;
    try {
      return cursor.next(batch) ? batch.rowIds[0] : -1;
    } finally {
      cursor.close();
      access.keyHeap().reset();
    }
  }

  private void set(@Nullable Object[] values) {
    batch.size = 1;
    for (int i = 0; i < columns.length; i++) {
      Object value = values[i];
      int column = columns[i];
      if (value == null) {
        batch.columns[column].setNull(0);
        continue;
      }
      SqlType type = table.columns().get(column).type();
      long word =
          JavaValues.ofObject(type.oid(), ObjectParameters.widened(type.oid(), value), batch.heap);
      if (type.typeModifier() >= 0) {
        word = NumericConversion.coerce(word, type.typeModifier(), batch.heap);
      }
      batch.columns[column].clearNulls();
      batch.columns[column].words[0] = word;
    }
  }

  private boolean hasWrongNull() {
    for (int column : all) {
      Column of = table.columns().get(column);
      if (of.notNull() && batch.columns[column].isNull(0)) {
        return true;
      }
    }
    return false;
  }

  /// A change of the store.
  private interface Change {
    boolean make();
  }

  /// @return false: it was undone, or there was nothing to change any more
  private static boolean changed(StoreTransaction transaction, Change change) {
    long mark = transaction.mark();
    try {
      return change.make();
    } catch (DuplicateKey | RowConflict meets) {
      transaction.rollbackTo(mark);
      return false;
    } catch (EngineException refused) {
      transaction.rollbackTo(mark);
      throw refused;
    }
  }

  /// Whether the table is still what it was.
  @SuppressWarnings("ReferenceEquality") // versions share what has not changed
  boolean fits(TableShape shape) {
    return Objects.requireNonNull(shape).form() == table && shape.plain();
  }
}
