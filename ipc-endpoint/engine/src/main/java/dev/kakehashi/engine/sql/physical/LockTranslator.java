package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.LockedRows;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.protocol.ErrorCode;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Translates SELECT ... FOR UPDATE and its relatives.
final class LockTranslator {
  private static final Set<SqlKind> REFUSING_NULLS =
      EnumSet.of(
          SqlKind.EQUALS,
          SqlKind.NOT_EQUALS,
          SqlKind.LESS_THAN,
          SqlKind.LESS_THAN_OR_EQUAL,
          SqlKind.GREATER_THAN,
          SqlKind.GREATER_THAN_OR_EQUAL,
          SqlKind.IS_NOT_NULL);

  private LockTranslator() {}

  /// The plan of `locked` over that of its input.
  ///
  /// Fails with 0A000 if a table to lock may be left out by an outer join. It is asked of the optimized tree: where a condition
  /// refuses the rows that have nulls there, the join is none any more.
  static PlanNode translate(LockedRows locked, PlanNode input) {
    for (LockedRows.Lock lock : locked.locks) {
      if (mayBeMissing(locked.getInput(), lock.column(), ImmutableBitSet.of())) {
        throw ofNullableSide(lock.strength());
      }
    }
    LockStrength missing = lockOfMissing(locked.getInput(), false, ImmutableBitSet.of());
    if (missing != null) {
      throw ofNullableSide(missing);
    }
    return new PlanNode.LockRows(
        input,
        locked.locks.stream()
            .map(l ->
                new PlanNode.RowLock(
                    l.table().tableId(), l.table().name(), l.column(), l.strength(), l.policy()))
            .toList());
  }

  private static EngineException ofNullableSide(LockStrength strength) {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED,
        strength.clause() + " cannot be applied to the nullable side of an outer join");
  }

  /// How a subquery in FROM is locked whose rows are locked with those of the query, and which may be left out by an outer join; null:
  /// there is none.
  ///
  /// @param missing whether rows of `rel` may be
  /// @param needed as in [#mayBeMissing]
  private static @Nullable LockStrength lockOfMissing(
      RelNode rel, boolean missing, ImmutableBitSet needed) {
    return switch (rel) {
      case LockedRows inner ->
          inner.inherited && missing && !inner.locks.isEmpty()
              ? inner.locks.getFirst().strength()
              : null;
      case Filter filter ->
          lockOfMissing(filter.getInput(), missing, needed.union(needed(filter.getCondition())));
      case Sort sort -> lockOfMissing(sort.getInput(), missing, needed);
      case Project project ->
          lockOfMissing(project.getInput(), missing, origins(project.getProjects(), needed));
      case Join join -> {
        boolean inner = join.getJoinType() == JoinRelType.INNER;
        ImmutableBitSet both = inner ? needed.union(needed(join.getCondition())) : needed;
        yield lockOfMissing(join.getLeft(), join.getRight(), join.getJoinType(), missing, both);
      }
      case Correlate correlate ->
          lockOfMissing(
              correlate.getLeft(), correlate.getRight(), correlate.getJoinType(), missing, needed);
      default -> null;
    };
  }

  private static @Nullable LockStrength lockOfMissing(
      RelNode left, RelNode right, JoinRelType type, boolean missing, ImmutableBitSet needed) {
    int count = left.getRowType().getFieldCount();
    ImmutableBitSet ofLeft = needed.intersect(ImmutableBitSet.range(count));
    ImmutableBitSet ofRight = needed.except(ofLeft).shift(-count);
    LockStrength first =
        lockOfMissing(left, missing || (type.generatesNullsOnLeft() && ofLeft.isEmpty()), ofLeft);
    return first != null
        ? first
        : lockOfMissing(
            right, missing || (type.generatesNullsOnRight() && ofRight.isEmpty()), ofRight);
  }

  private static ImmutableBitSet origins(List<RexNode> columns, ImmutableBitSet needed) {
    return ImmutableBitSet.of(
        needed.toList().stream()
            .map(each -> ColumnOrigin.column(columns.get(each)))
            .filter(each -> each >= 0)
            .toList());
  }

  /// @param needed columns without which, if they are null, no row comes out
  private static boolean mayBeMissing(RelNode rel, int column, ImmutableBitSet needed) {
    return switch (rel) {
      case Filter filter ->
          mayBeMissing(filter.getInput(), column, needed.union(needed(filter.getCondition())));
      case Sort sort -> mayBeMissing(sort.getInput(), column, needed);
      case Project project -> {
        List<RexNode> columns = project.getProjects();
        int origin = ColumnOrigin.column(columns.get(column));
        yield origin >= 0 && mayBeMissing(project.getInput(), origin, origins(columns, needed));
      }
      case Join join ->
          mayBeMissing(
              join.getLeft(),
              join.getRight(),
              join.getJoinType(),
              column,
              join.getJoinType() == JoinRelType.INNER
                  ? needed.union(needed(join.getCondition()))
                  : needed);
      case Correlate correlate ->
          mayBeMissing(
              correlate.getLeft(), correlate.getRight(), correlate.getJoinType(), column, needed);
      default -> false;
    };
  }

  private static boolean mayBeMissing(
      RelNode left, RelNode right, JoinRelType type, int column, ImmutableBitSet needed) {
    int count = left.getRowType().getFieldCount();
    ImmutableBitSet ofLeft = needed.intersect(ImmutableBitSet.range(count));
    ImmutableBitSet ofRight = needed.except(ofLeft).shift(-count);
    return column < count
        ? (type.generatesNullsOnLeft() && ofLeft.isEmpty()) || mayBeMissing(left, column, ofLeft)
        : (type.generatesNullsOnRight() && ofRight.isEmpty())
            || mayBeMissing(right, column - count, ofRight);
  }

  /// Columns whose nulls make a condition not true: those that it compares.
  private static ImmutableBitSet needed(RexNode condition) {
    ImmutableBitSet.Builder columns = ImmutableBitSet.builder();
    for (RexNode term : RelOptUtil.conjunctions(condition)) {
      if (term instanceof RexCall call && REFUSING_NULLS.contains(call.getKind())) {
        call.getOperands().stream()
            .mapToInt(ColumnOrigin::column)
            .filter(column -> column >= 0)
            .forEach(columns::set);
      }
    }
    return columns.build();
  }
}
