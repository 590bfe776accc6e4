package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.jspecify.annotations.Nullable;

/// What FOR UPDATE of a SELECT says.
///
/// FOR SHARE and its relatives lock like FOR UPDATE. FOR UPDATE TO CHANGE is for clients that change the rows one by one.
///
/// @param tables aliases to lock; empty: all
/// @param inherited whether a query around the SELECT locks its rows
record RowLocks(List<String> tables, LockWait policy, boolean inherited) {
  /// What the translator's call in the select list says; null if there is none.
  static @Nullable RowLocks of(SqlSelect select) {
    SqlCall call = FirstRows.marker(select, Marks.LOCK_CALL);
    if (call == null) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      names.add(((SqlIdentifier) operand).getSimple());
    }
    LockWait wait =
        switch (names.removeLast()) {
          case "nowait" -> LockWait.NOWAIT;
          case "skip locked" -> LockWait.SKIP_LOCKED;
          case "to change" -> LockWait.TO_CHANGE;
          default -> LockWait.WAIT;
        };
    return new RowLocks(names, wait, false);
  }

  boolean locks(String alias) {
    return tables.isEmpty() || tables.contains(alias);
  }

  /// Notes what it needs to be allowed to lock.
  void require(RelationUse use) {
    if (policy == LockWait.TO_CHANGE) {
      use.lock();
    } else {
      use.require(Privilege.UPDATE);
    }
  }

  static EngineException notAllowed(String what) {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "FOR UPDATE is not allowed with " + what);
  }
}
