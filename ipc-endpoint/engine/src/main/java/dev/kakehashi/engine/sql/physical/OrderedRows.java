package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.JoinSides;
import dev.kakehashi.engine.sql.cost.IndexLookup;
import dev.kakehashi.engine.sql.cost.JoinCost;
import dev.kakehashi.engine.sql.cost.RunCost;
import java.util.List;
import java.util.function.Supplier;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// ORDER BY with LIMIT over joins without a sort: one table is read in the order by an index, each of its rows looks up what it is joined
/// with, or has its subqueries evaluated, and the limit ends all of it.
///
/// @param cost of all rows, in the unit of [JoinCost]
/// @param plan makes the plan, whose rows one task has to ask for; called once at most
record OrderedRows(double cost, Supplier<PlanNode> plan) {

  /// How much cheaper than a sort it has to be: how soon the limit ends it is a guess.
  private static final double MARGIN = 2;

  /// The input of a sort in its order; null if it cannot be had, or if all rows are likely to be sorted for less.
  static @Nullable PlanNode choose(Sort sort, PlanTranslator translator) {
    if (sort.fetch == null || sort.getCollation().getFieldCollations().isEmpty()) {
      return null;
    }
    RexBuilder rex = sort.getCluster().getRexBuilder();
    OrderedRows rows = of(sort.getInput(), RunCost.keys(sort), translator, rex);
    return rows != null && MARGIN * RunCost.part(sort) * rows.cost < RunCost.sorted(sort, rex)
        ? rows.plan.get()
        : null;
  }

  private static @Nullable OrderedRows of(
      RelNode rel, List<SortKey> keys, PlanTranslator translator, RexBuilder rex) {
    PlanNode scan = RunCost.ordered(rel, keys, rex);
    if (scan != null) {
      return new OrderedRows(RunCost.inOrder(rel, keys, rex), () -> scan);
    }
    return switch (rel) {
      case Project project when !project.containsOver() -> {
        List<SortKey> below = RunCost.below(project, keys);
        OrderedRows input = below == null ? null : of(project.getInput(), below, translator, rex);
        yield input == null
            ? null
            : new OrderedRows(
                input.cost,
                () ->
                    new PlanNode.Project(
                        input.plan.get(), ExprTranslator.translate(project.getProjects())));
      }
      case Filter filter -> {
        OrderedRows input = of(filter.getInput(), keys, translator, rex);
        yield input == null
            ? null
            : new OrderedRows(
                input.cost,
                () ->
                    new PlanNode.Filter(
                        input.plan.get(), ExprTranslator.translate(filter.getCondition())));
      }
      case Join join -> join(join, keys, translator, rex);
      case Correlate correlate -> correlate(correlate, keys, translator, rex);
      default -> null;
    };
  }

  private static @Nullable OrderedRows join(
      Join join, List<SortKey> keys, PlanTranslator translator, RexBuilder rex) {
    JoinKind kind =
        switch (join.getJoinType()) {
          case INNER -> JoinKind.INNER;
          case LEFT, RIGHT -> JoinKind.LEFT;
          case SEMI -> JoinKind.SEMI;
          case ANTI -> JoinKind.ANTI;
          default -> null;
        };
    int leftCount = join.getLeft().getRowType().getFieldCount();
    int rightCount = join.getRight().getRowType().getFieldCount();
    boolean byLeft = keys.stream().allMatch(key -> key.column() < leftCount);
    boolean byRight = keys.stream().allMatch(key -> key.column() >= leftCount);
    if (kind == null) {
      return null;
    }
    if (byLeft && join.getJoinType() != JoinRelType.RIGHT) {
      return lookups(
          join.getLeft(), join.getRight(), join.getCondition(), kind, keys, translator, rex);
    }
    if (!byRight
        || (join.getJoinType() != JoinRelType.RIGHT && join.getJoinType() != JoinRelType.INNER)) {
      return null;
    }
    List<SortKey> ofRight =
        keys.stream()
            .map(key -> new SortKey(key.column() - leftCount, key.descending(), key.nullsFirst()))
            .toList();
    OrderedRows swapped =
        lookups(
            join.getRight(),
            join.getLeft(),
            JoinSides.swapped(join.getCondition(), leftCount, rightCount),
            kind,
            ofRight,
            translator,
            rex);
    return swapped == null
        ? null
        : new OrderedRows(
            swapped.cost, () -> JoinSides.swappedBack(swapped.plan.get(), leftCount, rightCount));
  }

  private static @Nullable OrderedRows lookups(
      RelNode outer,
      RelNode inner,
      RexNode condition,
      JoinKind kind,
      List<SortKey> keys,
      PlanTranslator translator,
      RexBuilder rex) {
    IndexLookup lookup = IndexLookup.ofJoin(outer, inner, condition, IndexLookup.NO_PARAMETER);
    OrderedRows ordered = lookup == null ? null : of(outer, keys, translator, rex);
    return lookup == null || ordered == null
        ? null
        : new OrderedRows(
            ordered.cost + JoinCost.lookups(PlanTranslator.rows(outer), lookup.found()),
            () -> IndexJoin.join(outer, inner, condition, kind, translator, ordered.plan));
  }

  private static @Nullable OrderedRows correlate(
      Correlate correlate, List<SortKey> keys, PlanTranslator translator, RexBuilder rex) {
    RelNode left = correlate.getLeft();
    int leftCount = left.getRowType().getFieldCount();
    OrderedRows ordered =
        keys.stream().allMatch(key -> key.column() < leftCount)
            ? of(left, keys, translator, rex)
            : null;
    return ordered == null
        ? null
        : new OrderedRows(
            ordered.cost + PlanTranslator.rows(left) * RunCost.ofSubquery(correlate, rex),
            () -> translator.correlate(correlate, ordered.plan));
  }
}
