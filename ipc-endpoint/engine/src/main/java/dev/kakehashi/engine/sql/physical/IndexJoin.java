package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.JoinSides;
import dev.kakehashi.engine.sql.cost.IndexLookup;
import dev.kakehashi.engine.sql.cost.JoinCost;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// A join of few rows with a large table that has an index of the joined columns: each row looks its partners up, and the table is not
/// scanned.
final class IndexJoin {
  private IndexJoin() {}

  /// The join by lookups, if it can be made so and costs less than reading all of the table.
  static @Nullable PlanNode choose(Join join, JoinKind kind, PlanTranslator translator) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    int rightCount = join.getRight().getRowType().getFieldCount();
    boolean keyed = !join.analyzeCondition().pairs().isEmpty();
    boolean looksRight =
        kind == JoinKind.INNER
            || kind == JoinKind.LEFT
            || kind == JoinKind.SEMI
            || kind == JoinKind.ANTI;
    if (looksRight) {
      PlanNode lookups =
          lookups(join.getLeft(), join.getRight(), join.getCondition(), kind, keyed, translator);
      if (lookups != null) {
        return lookups;
      }
    }
    if (kind != JoinKind.INNER && kind != JoinKind.RIGHT) {
      return null;
    }
    PlanNode lookups =
        lookups(
            join.getRight(),
            join.getLeft(),
            JoinSides.swapped(join.getCondition(), leftCount, rightCount),
            kind == JoinKind.RIGHT ? JoinKind.LEFT : kind,
            keyed,
            translator);
    return lookups == null ? null : JoinSides.swappedBack(lookups, leftCount, rightCount);
  }

  /// @param keyed whether it could be a hash join
  private static @Nullable PlanNode lookups(
      RelNode outer,
      RelNode inner,
      RexNode condition,
      JoinKind kind,
      boolean keyed,
      PlanTranslator translator) {
    RexBuilder rex = outer.getCluster().getRexBuilder();
    IndexLookup lookup = IndexLookup.ofJoin(outer, inner, condition, translator.nextParameter());
    if (lookup == null) {
      return null;
    }
    double outerRows = PlanTranslator.rows(outer);
    double innerRows = PlanTranslator.rows(inner);
    boolean innerHashed = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
    double joined =
        !keyed
            ? JoinCost.nestedLoop(outerRows, innerRows)
            : innerHashed
                ? JoinCost.hashed(outerRows, innerRows)
                : JoinCost.hashJoin(outerRows, innerRows);
    return JoinCost.lookups(outerRows, lookup.found())
            > IndexLookup.readCost(inner, innerRows, rex) + joined
        ? null
        : join(
            lookup, outer, inner, condition, kind, translator, () -> translator.translate(outer));
  }

  /// The join by lookups, of sides for which there is one.
  ///
  /// @param outerPlan called once
  static PlanNode join(
      RelNode outer,
      RelNode inner,
      RexNode condition,
      JoinKind kind,
      PlanTranslator translator,
      Supplier<PlanNode> outerPlan) {
    IndexLookup lookup =
        Objects.requireNonNull(
            IndexLookup.ofJoin(outer, inner, condition, translator.nextParameter()));
    return join(lookup, outer, inner, condition, kind, translator, outerPlan);
  }

  /// @param lookup with the translator's next parameters
  private static PlanNode join(
      IndexLookup lookup,
      RelNode outer,
      RelNode inner,
      RexNode condition,
      JoinKind kind,
      PlanTranslator translator,
      Supplier<PlanNode> outerPlan) {
    ImmutableBitSet used = IndexLookup.outerColumns(outer, condition);
    int taken = translator.takeParameters(used.cardinality());
    double tableRows = IndexLookup.base(inner).getTable().getRowCount();
    translator.expect(
        lookup.scan(), Math.max(1, PlanTranslator.rows(inner) / tableRows * lookup.found()));
    PlanNode right =
        lookup.above() == null
            ? lookup.scan()
            : new PlanNode.Project(
                lookup.scan(), ExprTranslator.translate(lookup.above().getProjects()));
    return new PlanNode.Correlate(outerPlan.get(), right, kind, used.toArray(), taken);
  }
}
