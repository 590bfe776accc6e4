package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.Condition;

/// Services of the transaction for one execution of a statement; implemented by the transaction layer.
public interface StatementScope extends FunctionSession, Interrupts.Source {
  Store store();

  StoreTransaction transaction();

  /// View of the running attempt of the statement.
  ReadView view();

  /// Whether the transaction keeps its first snapshot, so that nothing is done about rows which that does not show.
  boolean keepsSnapshot();

  /// A view in which rows that are referenced are looked for: it sees what the transaction did so far, and at READ COMMITTED the newest
  /// commits.
  ReadView referenceView();

  /// Whether a foreign key is looked at when the transaction commits. If so, the changes of its rows from now on are.
  boolean defers(DeferrableConstraint constraint);

  /// Begins the statement again after a conflict whose owner has ended; takes a newer snapshot where the isolation level says so.
  void restart();

  /// Begins the next execution of the same statement, for the next row of parameters: it sees what the earlier ones did, in the same
  /// snapshot.
  void nextRow();

  /// The changes are made, only rows are left to be delivered: later operations of the transaction may begin.
  void changesMade();

  /// After [#changesMade()]: undoes the changes between two marks, if nothing has come after them; otherwise they stay, as part of a
  /// transaction that goes on or ends.
  void undoIfLast(long from, long to);

  /// The statement's changes could not be undone: its transaction can only be rolled back.
  void undoFailed();

  /// Decides what a conflict means here.
  ///
  /// @return signalled when the statement may be tried again
  /// @throws dev.kakehashi.engine.api.error.EngineException SERIALIZATION_FAILURE or DEADLOCK_DETECTED when it may not
  Condition onConflict(RowConflict conflict);

  /// Microseconds since 2000-01-01 UTC.
  long statementTimestamp();

  long transactionTimestamp();

  /// Most bytes the statement may hold for hash tables, sorts and materialised rows.
  long memoryLimitBytes();

  /// Where it may put what does not fit.
  TempSpace tempSpace();

  /// @throws dev.kakehashi.engine.api.error.EngineException QUERY_CANCELED when the statement was canceled or its time is over
  @Override
  void checkCanceled();

  /// Calls `wake` once when the statement is canceled; at once if it already is. For tasks that wait; `wake` must not block.
  void onCancel(Runnable wake);

  /// Says how far the statement is, which copies rows from or to files, until it ends.
  void copying(CopyActivity activity);

  /// Says how far the statement has read its tables, until it ends.
  void scanning(ScanActivity activity);

  /// Adds to the statement's count of rows read.
  void scanned(long rows);
}
