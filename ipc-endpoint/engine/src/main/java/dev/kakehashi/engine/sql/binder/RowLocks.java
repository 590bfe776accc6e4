package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.jspecify.annotations.Nullable;

/// FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR KEY SHARE of a SELECT.
///
/// FOR UPDATE TO CHANGE, and the same with NO KEY, is for clients that change the rows one by one.
///
/// @param clauses at least one
/// @param inherited whether a query around the SELECT locks its rows
record RowLocks(List<Clause> clauses, boolean inherited) {
  /// One of the clauses.
  ///
  /// @param tables aliases to lock; empty: all
  record Clause(List<String> tables, LockStrength strength, LockWait policy) {}

  /// How the rows of a table are locked.
  record Lock(LockStrength strength, LockWait policy) {
    /// Both: the stronger one, and the wait that is sooner over.
    Lock and(Lock other) {
      return new Lock(
          strength.compareTo(other.strength) >= 0 ? strength : other.strength,
          policy.compareTo(other.policy) >= 0 ? policy : other.policy);
    }

    /// Notes what it needs to be allowed to lock.
    void require(RelationUse use) {
      if (policy == LockWait.TO_CHANGE) {
        use.lock();
      } else {
        use.require(Privilege.UPDATE);
      }
    }
  }

  /// Row locks by the translator's calls in the select list.
  ///
  /// @param around what a query around the SELECT locks of it; null: nothing
  /// @return null if nothing locks rows
  static @Nullable RowLocks of(SqlSelect select, @Nullable Lock around) {
    List<Clause> clauses = new ArrayList<>();
    for (SqlNode node : select.getSelectList()) {
      if (!FirstRows.isMarker(node)) {
        break;
      }
      SqlCall call = (SqlCall) node;
      if (call.getOperator().getName().equals(Marks.LOCK_CALL)) {
        clauses.add(clause(call));
      }
    }
    if (around != null) {
      clauses.add(new Clause(List.of(), around.strength, around.policy));
    }
    return clauses.isEmpty() ? null : new RowLocks(clauses, around != null);
  }

  private static Clause clause(SqlCall call) {
    List<String> names = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      names.add(((SqlIdentifier) operand).getSimple());
    }
    LockWait policy = LockWait.valueOf(names.removeLast().toUpperCase(Locale.ROOT));
    LockStrength strength = LockStrength.valueOf(names.removeLast().toUpperCase(Locale.ROOT));
    return new Clause(names, strength, policy);
  }

  /// How it locks the rows of what has an alias; null: not at all.
  @Nullable Lock of(String alias) {
    Lock found = null;
    for (Clause clause : clauses) {
      if (clause.tables.isEmpty() || clause.tables.contains(alias)) {
        Lock lock = new Lock(clause.strength, clause.policy);
        found = found == null ? lock : found.and(lock);
      }
    }
    return found;
  }

  /// Whether one of them names an alias.
  boolean names(String alias) {
    return clauses.stream().anyMatch(clause -> clause.tables.contains(alias));
  }

  /// Whether rows may be left out because others hold them.
  boolean skips() {
    return clauses.stream().anyMatch(clause -> clause.policy == LockWait.SKIP_LOCKED);
  }

  /// Name in messages, by the first clause.
  String name() {
    return clauses.getFirst().strength.clause();
  }

  EngineException notAllowed(String what) {
    return notAllowed(clauses.getFirst().strength, what);
  }

  static EngineException notAllowed(LockStrength strength, String what) {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, strength.clause() + " is not allowed with " + what);
  }
}
