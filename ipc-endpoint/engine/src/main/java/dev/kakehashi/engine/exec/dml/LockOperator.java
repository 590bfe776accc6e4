package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import dev.kakehashi.engine.plan.PlanNode.RowLock;
import dev.kakehashi.engine.store.api.OwnChange;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// SELECT ... FOR UPDATE and its relatives: locks the rows that pass, one at a time, so that a LIMIT above locks no more than it passes on.
public final class LockOperator extends Operator {
  private final RunContext run;
  private final Operator input;
  private final List<RowLock> locks;
  private @Nullable VectorBatch current;

  /// Rows of the current batch, copied: its selection names one of them at a time.
  private final int[] rows = new int[VectorBatch.CAPACITY];

  private int count;
  private int next;

  public LockOperator(RunContext run, Operator input, PlanNode.LockRows node) {
    this.run = run;
    this.input = input;
    this.locks = node.locks();
  }

  @Override
  public void open() {
    current = null;
    input.open();
  }

  @Override
  public @Nullable VectorBatch next() {
    while (true) {
      VectorBatch batch = current;
      if (batch == null) {
        batch = input.next();
        if (batch == null) {
          return null;
        }
        begin(batch);
      }
      while (next < count) {
        int row = rows[next++];
        if (lockAll(batch, row)) {
          batch.selection[0] = row;
          batch.selected = 1;
          return batch;
        }
      }
      current = null;
    }
  }

  private void begin(VectorBatch batch) {
    current = batch;
    count = batch.liveRows();
    next = 0;
    for (int k = 0; k < count; k++) {
      rows[k] = batch.selected < 0 ? k : batch.selection[k];
    }
  }

  private boolean lockAll(VectorBatch batch, int row) {
    StoreTransaction transaction = run.scope().transaction();
    // One lock is taken or not; of several those before one that is not are let go of.
    long before = locks.size() > 1 ? transaction.mark() : 0;
    for (RowLock lock : locks) {
      LockWait wait = lock.policy();
      ColumnVector rowIds = batch.columns[lock.rowIdColumn()];
      if (rowIds.isNull(row)) {
        continue;
      }
      TableStore table = run.scope().store().table(lock.tableId());
      try {
        OwnChange change = table.ownChange(run.scope().view(), rowIds.words[row]);
        if (change == OwnChange.LATER_COMMAND && wait == LockWait.TO_CHANGE) {
          continue;
        }
        if (change != OwnChange.NONE
            || !table.lock(transaction, rowIds.words[row], lock.strength())) {
          letGo(transaction, before);
          return false;
        }
      } catch (RowConflict conflict) {
        if (conflict.kind() != RowConflict.Kind.OWNER_ACTIVE
            || wait == LockWait.WAIT
            || wait == LockWait.TO_CHANGE) {
          throw conflict;
        }
        if (wait == LockWait.NOWAIT) {
          throw new EngineException(
              ErrorCode.LOCK_NOT_AVAILABLE,
              "could not obtain lock on row in relation \"" + lock.table() + "\"");
        }
        letGo(transaction, before);
        return false;
      }
    }
    return true;
  }

  private void letGo(StoreTransaction transaction, long before) {
    if (locks.size() > 1) {
      transaction.rollbackTo(before);
    }
  }

  @Override
  public void close() {
    input.close();
    current = null;
  }
}
