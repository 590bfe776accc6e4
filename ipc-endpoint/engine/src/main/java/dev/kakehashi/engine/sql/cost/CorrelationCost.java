package dev.kakehashi.engine.sql.cost;

import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import dev.kakehashi.engine.sql.cardinality.ColumnSelectivity;
import dev.kakehashi.engine.sql.cardinality.RowEstimates;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Cost of a correlated subquery that is evaluated for each outer row, against the join in its place; in the unit of [JoinCost].
///
/// Three kinds of subqueries are compared, because their joins may cost any multiple of what was asked for, where each look at an index
/// finds a few rows. LIMIT becomes the numbering of all rows that any outer row could have, a condition that is no equality pairs all rows
/// with all values of the outer columns, and an aggregate is computed for all groups. All other subqueries become joins, which may look
/// rows up by themselves.
public final class CorrelationCost {
  /// How much cheaper evaluation by row has to be: of both the estimates may be wrong, and only the join's cost is bounded by the tables.
  private static final double MARGIN = 2;

  private final RexBuilder rex;
  private final CorrelationId id;

  // Properties of the subquery.
  private boolean limited;
  private boolean grouped;
  private boolean counted;
  private boolean equalitiesOnly = true;

  private CorrelationCost(Correlate correlate) {
    this.rex = correlate.getCluster().getRexBuilder();
    this.id = correlate.getCorrelationId();
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        switch (node) {
          case Sort sort ->
              limited |= (sort.fetch != null || sort.offset != null) && isCorrelated(sort);
          case Aggregate aggregate -> {
            boolean correlated = isCorrelated(aggregate);
            grouped |= !isSingleValue(aggregate) && correlated;
            counted |= correlated && counts(aggregate);
          }
          case Filter filter -> inspect(filter.getCondition());
          case Join join -> inspect(join.getCondition());
          default -> {}
        }
        super.visit(node, ordinal, parent);
      }
    }.go(correlate.getRight());
  }

  /// Whether there is anything to choose between.
  public static boolean isOpen(Correlate correlate) {
    return new CorrelationCost(correlate).isOpen();
  }

  /// The subqueries that are cheaper by row.
  ///
  /// @param rel with its filters where they are evaluated, so that it is seen how few outer rows there are
  public static Set<CorrelationId> byRow(RelNode rel) {
    Set<CorrelationId> found = new HashSet<>();
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        if (node instanceof Correlate correlate
            && new CorrelationCost(correlate).isCheaperByRow(correlate)) {
          found.add(correlate.getCorrelationId());
        }
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return found;
  }

  private boolean isOpen() {
    return limited || grouped || !equalitiesOnly;
  }

  private boolean isCheaperByRow(Correlate correlate) {
    if (!isOpen()) {
      return false;
    }
    RelNode left = correlate.getLeft();
    double each = RunCost.ofSubquery(correlate, rex);
    ImmutableBitSet columns = RelOptUtil.correlationColumns(id, correlate.getRight());
    double values = new RowEstimates().getDistinctRowCount(left, columns, null);
    double joined = joined(uncorrelated(correlate.getRight()), equalitiesOnly ? 1 : values);
    if (counted && columns.asList().stream().anyMatch(column -> isNullable(left, column))) {
      // The count of no rows is no null: it is joined to the outer rows by a comparison of nulls,
      // too, which is no key of a hash table.
      joined += JoinCost.nestedLoop(rows(left), values);
    }
    if (!limited && equalitiesOnly && columns.cardinality() == 1) {
      RestrictingKeys keys = RestrictingKeys.of(left, columns.nth(0), rex);
      joined = keys == null ? joined : Math.min(joined, keys.cost() + values * each);
    }
    return rows(left) * each * MARGIN < joined;
  }

  private static boolean counts(Aggregate aggregate) {
    return aggregate.getAggCallList().stream()
        .anyMatch(call -> call.getAggregation().getKind() == SqlKind.COUNT);
  }

  private static boolean isNullable(RelNode rel, int column) {
    return rel.getRowType().getFieldList().get(column).getType().isNullable();
  }

  /// Whether it is what a subquery as a value becomes whose rows may be several.
  public static boolean isSingleValue(RelNode rel) {
    return rel instanceof Aggregate aggregate
        && aggregate.getAggCallList().stream()
            .anyMatch(call -> call.getAggregation().getKind() == SqlKind.SINGLE_VALUE);
  }

  private boolean isCorrelated(RelNode rel) {
    return RelOptUtil.getVariablesUsed(rel).contains(id);
  }

  private void inspect(RexNode condition) {
    for (RexNode term : RelOptUtil.conjunctions(condition)) {
      equalitiesOnly &= !RexUtil.containsCorrelation(term) || isEquality(term);
    }
  }

  /// Whether rows that fulfil it are found by a value of the outer row: it becomes the key of a hash table.
  private static boolean isEquality(RexNode term) {
    if (!(term instanceof RexCall call) || call.getKind() != SqlKind.EQUALS) {
      return false;
    }
    RexNode a = call.getOperands().get(0);
    RexNode b = call.getOperands().get(1);
    return RexUtil.containsCorrelation(a)
        ? isOuter(a) && !RexUtil.containsCorrelation(b)
        : isOuter(b);
  }

  /// Whether it is computed from outer columns alone.
  public static boolean isOuter(RexNode node) {
    return RexUtil.containsCorrelation(node) && RelOptUtil.InputFinder.bits(node).isEmpty();
  }

  private static double rows(RelNode rel) {
    return new RowEstimates().getRowCount(rel);
  }

  /// The subquery for all outer rows at once: without what depends on one of them.
  private RelNode uncorrelated(RelNode rel) {
    return BottomUp.rewrite(
        rel,
        each -> {
          if (!(each instanceof Filter filter)) {
            return each;
          }
          List<RexNode> kept =
              RelOptUtil.conjunctions(filter.getCondition()).stream()
                  .filter(term -> !RexUtil.containsCorrelation(term))
                  .toList();
          return kept.isEmpty()
              ? filter.getInput()
              : LogicalFilter.create(filter.getInput(), RexUtil.composeConjunction(rex, kept));
        });
  }

  /// Cost of the join. All rows are read once, paired with the values of outer columns that do not lead to them, then numbered or grouped.
  ///
  /// @param values sets of values of the outer columns, or 1 where they lead to the rows
  private double joined(RelNode rel, double values) {
    ScanShape shape = ScanShape.of(rel, rex);
    if (shape != null && !shape.table().isSystem()) {
      double pairs = values > 1 ? rows(rel) * values : 0;
      return IndexLookup.readCost(rel, rows(rel), rex) + pairs;
    }
    double cost = 0;
    double pairs = 0;
    for (RelNode input : rel.getInputs()) {
      cost += joined(input, values);
      pairs += rows(input) * Math.max(1, values * ColumnSelectivity.DEFAULT_INEQUALITY);
    }
    return switch (rel) {
      case Sort sort -> cost + pairs * JoinCost.SORTED_ROW;
      case Aggregate aggregate -> cost + pairs * JoinCost.HASHED_ROW;
      case Join join -> cost + pairs;
      default -> cost;
    };
  }
}
