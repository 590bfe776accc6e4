package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.vector.VectorBatch;

/// Inserts many rows into one table for one statement of a transaction, by any number of tasks at a time.
///
/// The rows are in the table at once, invisible as those of every running transaction. Their index entries would cost most if rows came one
/// at a time. So entries are collected, sorted and entered together at the end. Only then is it known which keys are there twice. A
/// statement that must know of each row at once does better with [TableStore#insert].
///
/// Order of calls: [TableStore#bulkInsert] by the thread that has the transaction's turn; [#newPart()] by any thread, a part for each task;
/// each part is used by one thread at a time and ended; then, ordered after all parts, [#finish] and [#close()] by the thread that has the
/// turn. Between the first and the last the transaction changes nothing else, takes no mark and rolls nothing back. Without [#finish], or
/// if it fails, [#close()] takes everything back.
///
/// Other transactions read and write the table all the time.
public interface BulkInsert extends AutoCloseable {
  /// A part for one task. It has a page of the table for itself, so a few thousand rows are worth a part.
  Part newPart();

  /// Enters the rows into the indexes, and makes them rows of the transaction.
  ///
  /// @throws DuplicateKey what `duplicates` throws
  /// @throws RowConflict a transaction in progress decides whether a key is there twice
  void finish(Duplicates duplicates);

  /// Rows that were inserted, without those that [#finish] has refused.
  long rows();

  /// Reads a row that was inserted, also after [#finish] and until [#close()], for messages.
  ///
  /// @param columns positions wanted, in the order of the batch's columns
  /// @param to gets it as its only row
  void read(long rowId, int[] columns, VectorBatch to);

  /// Takes everything back that is not finished.
  @Override
  void close();

  /// Rows of one task. Used by one thread at a time.
  interface Part extends AutoCloseable {
    /// Inserts row `row` of `values`, whose columns are the table's columns in order.
    ///
    /// Rows of a part mostly get row identifiers one after another, so who wants to know later which row of its input a row identifier was
    /// needs to note only where that is not so.
    ///
    /// @return its row identifier
    /// @throws dev.kakehashi.engine.api.error.EngineException LIMIT_EXCEEDED for a key that is too long: nothing is inserted then, and
    ///     the part goes on. OUT_OF_MEMORY: the insertion cannot be finished any more
    long insert(VectorBatch values, int row);

    /// Ends the part. Idempotent; [BulkInsert#close()] does it for parts that were left.
    @Override
    void close();
  }

  /// Hears of keys that are there twice.
  interface Duplicates {
    /// Fails for each.
    Duplicates FAIL =
        (failure, rowId, other) -> {
          throw failure;
        };

    /// Another row that no row of the insertion has.
    long NONE = -1;

    /// Two rows have the same unique key. Called by the thread that finishes; the rows may be read by [BulkInsert#read].
    ///
    /// @param failure what a statement fails with that bears no duplicates
    /// @param rowId of a row that was inserted
    /// @param other another row that was inserted; [#NONE]: it was there before
    /// @return which of the two is taken back; the first, if the other was there before
    long refused(DuplicateKey failure, long rowId, long other);
  }
}
