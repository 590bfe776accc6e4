package dev.kakehashi.engine.sql;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql2rel.RelDecorrelator;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Turns correlated subqueries and LATERAL into joins, by Calcite's decorrelator.
///
/// It is asked for one at a time, from the inside, and not for those of which it makes joins that lose rows: what an outer join gives nulls for has no values of the outer query any more,
/// two conditions that are true of different rows where the outer column is null have one set of its values, and a condition that names one outer column more than those below it
/// makes it forget which values of the others these were true of. Those stay as they are and are evaluated for each row.
final class Decorrelation {
  private final Set<CorrelationId> byRow;
  private final RelBuilder builder;

  private Decorrelation(Set<CorrelationId> byRow, RelBuilder builder) {
    this.byRow = byRow;
    this.builder = builder;
  }

  /// @param byRow those that are to stay as they are
  static RelNode apply(RelNode rel, Set<CorrelationId> byRow, RelBuilder builder) {
    return new Decorrelation(byRow, builder).visit(rel);
  }

  private RelNode visit(RelNode rel) {
    return BottomUp.rewrite(
        rel, each -> each instanceof Correlate correlate ? joined(correlate) : each);
  }

  private RelNode joined(Correlate correlate) {
    CorrelationId id = correlate.getCorrelationId();
    Set<CorrelationId> outer = new HashSet<>(RelOptUtil.getVariablesUsed(correlate));
    outer.remove(id);
    if (!outer.isEmpty() || byRow.contains(id)) {
      return correlate;
    }
    RelNode left = correlate.getLeft();
    RelNode right = hidden(correlate.getRight());
    if (Inspection.any(right, each -> each instanceof Hidden part && uses(part.rel, id))) {
      return correlate;
    }
    Uses uses = new Uses(id);
    uses.go(right);
    if (uses.ofRecursion
        || uses.ofArguments
        || uses.mayRefuse
        || uses.inOuterJoin
        || uses.aboveGroups
        || uses.forgets
        || (uses.filters > 1 && uses.ofNull)) {
      return correlate;
    }
    // Calcite takes a column for never null that an outer join compares by =, if it sees the join,
    // and makes joins of all correlations that it sees.
    boolean once = isUnrepeatable(left);
    boolean hides =
        once
            || Inspection.any(
                left,
                each ->
                    each instanceof Correlate
                        || (each instanceof Join join && join.getJoinType().isOuterJoin()));
    // Where a subquery is empty whatever the row is, less is named than was, which Calcite counts.
    Correlate exact =
        correlate.copy(
            correlate.getTraitSet(),
            hides ? new Hidden(left) : left,
            right,
            id,
            RelOptUtil.correlationColumns(id, right),
            correlate.getJoinType());
    // Calcite's join has more columns; the project keeps what is above from seeing them.
    RexBuilder rex = correlate.getCluster().getRexBuilder();
    List<RexNode> columns = List.copyOf(rex.identityProjects(correlate.getRowType()));
    RelNode project =
        LogicalProject.create(
            exact, List.of(), columns, correlate.getRowType().getFieldNames(), Set.of());
    RelNode joined = RelDecorrelator.decorrelateQuery(project, builder);
    // Two evaluations of the outer query may not give the same rows.
    return once && Inspection.count(joined, Hidden.class::isInstance) > hiddenIn(right) + 1
        ? correlate
        : shown(joined);
  }

  private static int hiddenIn(RelNode rel) {
    return Inspection.count(rel, Hidden.class::isInstance);
  }

  /// Whether rows or values may be others the next time: those of a limit by an order that is not total, of which several tasks keep the first, of a sample, or of random(). A subquery that is evaluated by
  /// row is so by one task, in the same way each time.
  private static boolean isUnrepeatable(RelNode rel) {
    if (rel instanceof SampledRows
        || (rel instanceof Sort sort && (sort.fetch != null || sort.offset != null))
        || isVolatile(rel)) {
      return true;
    }
    return rel instanceof Correlate correlate
        ? isUnrepeatable(correlate.getLeft())
            || Inspection.any(correlate.getRight(), Decorrelation::isVolatile)
        : rel.getInputs().stream().anyMatch(Decorrelation::isUnrepeatable);
  }

  private static boolean isVolatile(RelNode rel) {
    boolean[] found = {false};
    rel.accept(
        new RexShuttle() {
          @Override
          public RexNode visitCall(RexCall call) {
            found[0] |= !call.getOperator().isDeterministic();
            return super.visitCall(call);
          }
        });
    return found[0];
  }

  private boolean isByRow(RelNode rel) {
    return rel instanceof Correlate correlate && byRow.contains(correlate.getCorrelationId());
  }

  private static boolean uses(RelNode rel, CorrelationId id) {
    return RelOptUtil.getVariablesUsed(rel).contains(id);
  }

  /// Without a look at those that stay as they are. None is below another one: what they name is seen.
  private RelNode hidden(RelNode rel) {
    return BottomUp.rewrite(rel, each -> isByRow(each) ? new Hidden(shown(each)) : each);
  }

  /// How a subquery names outer queries.
  private static final class Uses extends RelVisitor {
    private final CorrelationId id;

    /// Whether in what an outer join may find nothing of.
    boolean inOuterJoin;

    /// Whether in a column that is computed from groups.
    boolean aboveGroups;

    /// Whether in a recursion, of which it makes no joins.
    boolean ofRecursion;

    /// Whether below what refuses more than one row: a join would ask about the rows of all values, also of those that no outer row has.
    boolean mayRefuse;

    /// Whether in what rows are made of, which have no join to be had from.
    boolean ofArguments;

    /// The number of filters.
    int filters;

    /// Whether one of the filters may be true where the outer column is null.
    boolean ofNull;

    /// Whether expressions name some of the columns that are named below them, and others.
    boolean forgets;

    Uses(CorrelationId id) {
      this.id = id;
    }

    private void compare(RelNode node) {
      ImmutableBitSet.Builder columns = ImmutableBitSet.builder();
      node.accept(
          new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
              if (access.getReferenceExpr() instanceof RexCorrelVariable variable
                  && variable.id.equals(id)) {
                columns.set(access.getField().getIndex());
              }
              return access;
            }
          });
      ImmutableBitSet own = columns.build();
      if (!own.isEmpty()) {
        ImmutableBitSet below = RelOptUtil.correlationColumns(id, node.getInput(0));
        forgets |= own.intersects(below) && !below.contains(own);
      }
    }

    @Override
    public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
      switch (node) {
        case Join join ->
            inOuterJoin |=
                join.getJoinType().isOuterJoin() && !RelOptUtil.getVariablesUsed(join).isEmpty();
        case RecursiveRows recursion -> ofRecursion |= recursion.isCorrelated();
        case Aggregate aggregate ->
            mayRefuse |= CorrelationCost.isSingleValue(aggregate) && uses(aggregate, id);
        case FunctionRows rows -> ofArguments |= uses(rows, id);
        case ExpressionRows rows -> ofArguments |= uses(rows, id);
        case Correlate inner -> inOuterJoin |= inner.getJoinType() != JoinRelType.INNER;
        case Project project -> {
          aboveGroups |=
              project.getProjects().stream().anyMatch(RexUtil::containsCorrelation)
                  && Inspection.any(project, Aggregate.class::isInstance);
          compare(project);
        }
        case Filter filter -> {
          compare(filter);
          for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
            ofNull |= RexUtil.containsCorrelation(term) && !isStrict(term);
          }
          if (!(parent instanceof Filter) && RexUtil.containsCorrelation(filter.getCondition())) {
            filters++;
          }
        }
        default -> {}
      }
      super.visit(node, ordinal, parent);
    }

    private static boolean isStrict(RexNode node) {
      return switch (node) {
        case RexCall call ->
            (SqlKind.COMPARISON.contains(call.getKind())
                    && call.getKind() != SqlKind.IS_DISTINCT_FROM
                    && call.getKind() != SqlKind.IS_NOT_DISTINCT_FROM
                    && call.getOperands().stream().allMatch(Uses::isStrict))
                || (call.getOperator() instanceof PgOperators.FunctionOperator operator
                    && operator.function.strict()
                    && call.getOperands().stream().allMatch(Uses::isStrict))
                || call.getOperator() instanceof PgOperators.ConstantOperator;
        case RexInputRef reference -> true;
        case RexFieldAccess access -> true;
        case RexLiteral literal -> true;
        default -> false;
      };
    }
  }

  private static RelNode shown(RelNode rel) {
    return BottomUp.rewrite(rel, each -> each instanceof Hidden part ? shown(part.rel) : each);
  }

  /// Stands for rows whose making is not to be looked at.
  private static final class Hidden extends AbstractRelNode {
    final RelNode rel;

    Hidden(RelNode rel) {
      super(rel.getCluster(), rel.getCluster().traitSetOf(Convention.NONE));
      this.rel = rel;
      this.rowType = rel.getRowType();
    }

    @Override
    public double estimateRowCount(RelMetadataQuery metadata) {
      return metadata.getRowCount(rel);
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
      return super.explainTerms(writer).item("rows", rel.getId());
    }
  }
}
