package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// Rows of one table. Thread-safe.
///
/// Row identifiers name a row (all its versions) until it is deleted and no reader can see it any more.
public interface TableStore {
  TableDefinition definition();

  /// Rows visible to a new snapshot, approximately.
  long rowCount();

  /// Rows inserted, updated and deleted by committed transactions since the store was opened.
  long changeCount();

  /// Number of units that a full scan can be divided into now (pages); a scan of partition p of n takes a share of them.
  long pageCount();

  /// Opens a scan of the pages `[firstPage, endPage)`; pages that come into being later hold nothing the view can see unless the
  /// own transaction wrote them, so a scan that must see own inserts takes [#pageCount()] at its start.
  ///
  /// @param columns positions wanted, in the order of the batch's columns
  PageCursor scan(ReadView view, long firstPage, long endPage, int[] columns, boolean withRowIds);

  /// Notes that a transaction depends on all of the table. Scans do so when they are opened: for who opens none, because there are no
  /// pages.
  void noteRead(ReadView view);

  /// Opens a scan of a random sample: each visible row is taken with probability `fraction`, independently of the others.
  ///
  /// @param fraction above 0; 1 or more: every row
  RowCursor sample(ReadView view, double fraction, long seed, int[] columns);

  /// Whether an index has a row: not if the index is partial and the row does not fulfil its predicate.
  ///
  /// @param index position in `definition().indexes()`
  /// @param batch with all columns of the table
  boolean covers(int index, VectorBatch batch, int row);

  /// Opens a scan of an index in its order (or in reverse).
  ///
  /// @param index position in `definition().indexes()`
  /// @param range bounds on a prefix of the key columns
  /// @param closed an index scan of this store, of whatever table, that was closed and is used by nobody else; it may be opened again as
  ///     the result. Null: there is none
  RowCursor indexScan(
      ReadView view,
      int index,
      KeyRange range,
      boolean reverse,
      int[] columns,
      boolean withRowIds,
      @Nullable RowCursor closed);

  /// The same with a cursor of its own.
  default RowCursor indexScan(
      ReadView view,
      int index,
      KeyRange range,
      boolean reverse,
      int[] columns,
      boolean withRowIds) {
    return indexScan(view, index, range, reverse, columns, withRowIds, null);
  }

  /// Number that names a row to clients: no other row of the table has had it since the store was opened. It stays while the row is
  /// updated.
  ///
  /// @param rowId of a row that the caller's view sees
  long identity(long rowId);

  /// Opens a scan of the row with an identity, if the view sees it. The batch gets row identifiers.
  ///
  /// @param identity any number: what is none has no row
  RowCursor identityScan(ReadView view, long identity, int[] columns);

  /// Divides a range of an index for several tasks.
  ///
  /// @param index position in `definition().indexes()`
  /// @param range bounds on a prefix of the key columns
  /// @param most parts wanted, at least 1
  IndexParts divide(int index, KeyRange range, int most);

  /// Inserts row `row` of `values`, whose columns are the table's columns in order.
  ///
  /// @return its row identifier
  /// @throws DuplicateKey if a visible or committed row has the same unique key
  /// @throws RowConflict if another running transaction has (un)made a row with the same unique key
  long insert(StoreTransaction transaction, VectorBatch values, int row);

  /// Begins to insert many rows, by several tasks. Called by the thread that changes rows of the transaction, which closes it before the
  /// statement's end.
  BulkInsert bulkInsert(StoreTransaction transaction);

  /// Replaces the row `rowId` by row `row` of `values` (all columns).
  ///
  /// @return false if the statement's own transaction has deleted it already
  /// @throws DuplicateKey as for insert
  /// @throws RowConflict if another transaction has changed it since the snapshot
  boolean update(StoreTransaction transaction, long rowId, VectorBatch values, int row);

  /// Deletes the row.
  ///
  /// @return false if the statement's own transaction has deleted it already
  /// @throws RowConflict if another transaction has changed it since the snapshot
  boolean delete(StoreTransaction transaction, long rowId);

  /// Locks the row until the transaction ends, or goes back to a point before: others that change or lock it so that this
  /// [conflicts][LockStrength#conflictsWith] meet a [RowConflict].
  ///
  /// NO_KEY_UPDATE and UPDATE make a new version with the same values, so their commit is a change of the row to transactions with an older
  /// snapshot. KEY_SHARE and SHARE change nothing.
  ///
  /// @return false if the row is gone for the transaction, or it has deleted it itself
  /// @throws RowConflict if others hold the row so that it cannot be locked, or one has changed it since the snapshot; for KEY_SHARE, has
  ///     deleted it or changed its keys
  boolean lock(StoreTransaction transaction, long rowId, LockStrength strength);

  /// Change that the own transaction has made, for the view's command or later ones, to a row that the view sees. Only a view that does not
  /// see all of its transaction's earlier changes finds any. Called by the thread that changes rows of the transaction.
  OwnChange ownChange(ReadView view, long rowId);

  /// Locks the row by KEY_SHARE, because rows of other tables reference it.
  ///
  /// @param columns of the table
  /// @param key their values, by which the row was found, in row `row`
  /// @return false if the row is gone
  /// @throws RowConflict if another transaction holds its keys, or has deleted it or changed the columns since it was found
  boolean lockKey(
      StoreTransaction transaction, long rowId, int[] columns, VectorBatch key, int row);

  /// The same for all rows; for a transaction that was prepared by an earlier version, which did not note its locks.
  void lockKeys(StoreTransaction transaction);

  /// Looks whether the newest version of a row is the only one with its key, for an index that lets duplicates in.
  ///
  /// The caller makes its own version and entry before it looks. So of two transactions that do this, at least one finds the other's.
  ///
  /// @throws DuplicateKey if another row has the key
  /// @throws RowConflict if another row has it or not by the end of another transaction
  void requireUnique(StoreTransaction transaction, long indexId, long rowId);

  /// Reads one row.
  ///
  /// @param columns positions wanted, in the order of the batch's columns
  /// @param to gets it as its only row
  /// @return false if the view sees no such row
  boolean read(ReadView view, long rowId, int[] columns, VectorBatch to);

  /// Where readers in other processes find it by an index; null: there are none.
  @Nullable SharedIndex shared(int index);
}
