package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which tables a transaction has come to change, and what it has declared if it is a long one. Used by the transaction's thread, but for
/// [#isInside].
final class TableAdmission {
  private static final RowTable[] NONE = {};

  private final RowTransaction transaction;

  /// A table is entered before the first change, and stays. Replaced by the transaction's thread.
  private volatile RowTable[] changed = NONE;

  private @Nullable RowTable lastEntered;

  /// Claim of a long transaction. Set before the transaction is used.
  private LongTransactions.@Nullable Claim claim;

  private boolean claimEnded;

  TableAdmission(RowTransaction transaction) {
    this.transaction = transaction;
  }

  void declare(StoreTransaction.LongArea area) {
    claim = longTransactions().declare(transaction, area);
  }

  private LongTransactions longTransactions() {
    return transaction.store.longTransactions();
  }

  LongTransactions.@Nullable Claim claim() {
    return claim;
  }

  /// It keeps nothing from others any more.
  void endClaim() {
    if (claim != null && !claimEnded) {
      claimEnded = true;
      longTransactions().end(claim);
    }
  }

  /// The transaction is about to change the table.
  ///
  /// @throws RowConflict PRESERVED
  void enter(RowTable table) {
    if (table == lastEntered) {
      return;
    }
    if (!isInside(table.tableId())) {
      admit(table);
    }
    lastEntered = table;
  }

  private void admit(RowTable table) {
    if (claim != null) {
      if (!claim.writes(table.tableId())) {
        throw new EngineException(
            ErrorCode.UNDECLARED_TABLE,
            "cannot change a table that the long transaction has not declared");
      }
      reenter(table);
      return;
    }
    RowTable[] before = changed;
    // First this, then a look at what others have declared, see LongTransactions.
    reenter(table);
    try {
      longTransactions().admit(transaction, table.tableId());
    } catch (RowConflict refused) {
      changed = before;
      throw refused;
    }
  }

  /// Enters a table that it has been in before.
  void reenter(RowTable table) {
    RowTable[] present = changed;
    if (!isInside(table.tableId())) {
      RowTable[] more = Arrays.copyOf(present, present.length + 1);
      more[present.length] = table;
      changed = more;
    }
  }

  /// Whether it has come to change the table. Any thread.
  boolean isInside(long tableId) {
    for (RowTable table : changed) {
      if (table.tableId() == tableId) {
        return true;
      }
    }
    return false;
  }

  /// Admission of a long transaction before it reads or writes tables.
  ///
  /// @param whenReady called once when it is worth to ask again, if the answer is to wait
  LongTransactions.Admission acquire(Set<Long> tables, Runnable whenReady) {
    return claim == null
        ? LongTransactions.Admission.READY
        : longTransactions().acquire(claim, tables, whenReady);
  }

  boolean mayCommit(Runnable whenReady) {
    return claim == null || longTransactions().mayCommit(claim, whenReady);
  }
}
