package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.plan.UniqueKey;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowChanges;
import dev.kakehashi.engine.store.api.RowChanges.Before;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/// Looks at a deferrable unique key, when the rows of a statement, or of a transaction, are what they are to be. As for deferred foreign
/// keys, what is to be looked at is the transaction's list of writes.
public final class UniqueKeys {
  private UniqueKeys() {}

  /// Requires that the rows which the transaction has given new keys since a mark are the only ones with them.
  ///
  /// @throws EngineException UNIQUE_VIOLATION
  /// @throws RowConflict if that depends on the end of another transaction
  public static void require(
      StoreTransaction transaction, Store store, UniqueKey key, long mark, Runnable checkCanceled) {
    TableStore table = store.table(key.tableId());
    ReadView view = transaction.beginStatement();
    RowChanges changes = transaction.changes(key.tableId(), mark, key.columns());
    int width = key.columns().length;
    try (VectorBatch before = VectorBatch.ofRows(width, 1);
        VectorBatch now = VectorBatch.ofRows(width, 1)) {
      while (changes.next()) {
        checkCanceled.run();
        if (!changes.isLast() || !table.read(view, changes.rowId(), key.columns(), now)) {
          continue;
        }
        boolean known =
            changes.before(before) == Before.COMMITTED
                && ReferenceLookup.isSame(key.typeOids(), before.columns, now.columns);
        if (!known) {
          require(transaction, table, key, changes.rowId(), now);
        }
      }
    }
  }

  private static void require(
      StoreTransaction transaction, TableStore table, UniqueKey key, long rowId, VectorBatch now) {
    try {
      table.requireUnique(transaction, key.constraintId(), rowId);
    } catch (DuplicateKey duplicate) {
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < key.typeOids().length; i++) {
        texts.add(Values.toText(key.typeOids()[i], now.columns[i].words[0]));
      }
      throw new EngineException(
              ErrorCode.UNIQUE_VIOLATION,
              "duplicate key value violates unique constraint \"" + key.name() + "\"")
          .withDetail(
              "Key (%s)=(%s) already exists."
                  .formatted(String.join(", ", key.columnNames()), String.join(", ", texts)))
          .withTable(key.schema(), key.table())
          .withConstraint(key.name());
    }
  }

  /// Whether there are duplicates at the moment, or may be.
  static boolean isPending(StoreTransaction transaction, Store store, UniqueKey key, long mark) {
    try {
      require(transaction, store, key, mark, () -> {});
      return false;
    } catch (EngineException | RowConflict pending) {
      return true;
    }
  }
}
