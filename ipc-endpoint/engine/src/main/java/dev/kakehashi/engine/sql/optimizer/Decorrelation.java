package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.ExpressionRows;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.GuardedRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import dev.kakehashi.engine.sql.algebra.SampledRows;
import dev.kakehashi.engine.sql.cost.CorrelationCost;
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
import org.apache.calcite.rel.core.RelFactories;
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
import org.apache.calcite.sql2rel.CorrelateProjectExtractor;
import org.apache.calcite.sql2rel.RelDecorrelator;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Turns correlated subqueries and LATERAL into joins, by Calcite's decorrelator.
///
/// It is asked for one at a time, from the inside, and not for subqueries of which it makes joins that lose rows. It loses rows in three
/// cases. Rows that an outer join fills with nulls have no values of the outer query. Two conditions that are true of different rows where
/// the outer column is null have one set of its values. A condition that names one outer column more than conditions below it makes the
/// decorrelator forget which values of the others these were true of. These subqueries stay as they are and are evaluated for each row, as
/// are the ones that it gives up by itself. Evaluation by row is the meaning of a subquery; a join is only to cost less.
final class Decorrelation {
  private static final Logger LOG = LoggerFactory.getLogger(Decorrelation.class);

  static {
    // Some of its joins are wrong, and it knows: without its assertions they would be made.
    RelDecorrelator.class
        .getClassLoader()
        .setClassAssertionStatus("org.apache.calcite.sql2rel.RelDecorrelator", true);
  }

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
    if (byRow.contains(id) || GuardedRows.of(correlate) != null || !isClosed(correlate)) {
      return correlate;
    }
    if (OuterCalls.mayBeLeftOut(correlate)) {
      return correlate;
    }
    RelNode right = hidden(correlate.getRight());
    if (Inspection.any(right, each -> each instanceof Hidden part && !isClosed(part.rel))) {
      return correlate;
    }
    RelNode left = correlate.getLeft();
    boolean once = isUnrepeatable(left);
    // Where a subquery is empty whatever the row is, less is named than was, which Calcite counts.
    Correlate exact =
        correlate.copy(
            correlate.getTraitSet(),
            once || Inspection.any(left, Decorrelation::isMistaken) ? new Hidden(left) : left,
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
    RelNode joined = joined(project);
    // Two evaluations of the outer query may not give the same rows.
    return joined == null
            || (once
                && Inspection.count(
                        joined, each -> each instanceof Hidden part && part.rel.equals(left))
                    > 1)
        ? correlate
        : shown(joined);
  }

  /// Null if rows would be lost, or if Calcite gives up.
  private @Nullable RelNode joined(RelNode project) {
    try {
      // As Calcite begins: what is made of outer columns alone is a column of the outer query then.
      RelNode extracted =
          project.accept(new CorrelateProjectExtractor(RelFactories.LOGICAL_BUILDER));
      if (Inspection.any(
          extracted, each -> each instanceof Correlate part && Uses.of(part).loseRows())) {
        return null;
      }
      RelNode joined = RelDecorrelator.decorrelateQuery(extracted, builder);
      // Where it has no way to go it leaves a correlation half done.
      return Inspection.any(joined, Correlate.class::isInstance) || !isClosed(joined)
          ? null
          : joined;
    } catch (AssertionError
        | ClassCastException
        | IllegalArgumentException
        | IndexOutOfBoundsException
        | NullPointerException
        | UnsupportedOperationException mistaken) {
      // Faults of Calcite show as these exceptions. Nothing is lost: the caller keeps the subquery
      // as it was.
      LOG.debug("a correlated subquery that Calcite makes no join of", mistaken);
      return null;
    }
  }

  /// Whether Calcite takes a column of it for what it is not: for never null if an outer join compares it by =, for one of the keys if it
  /// is an aggregate; or makes a join of what is to stay as it is.
  private static boolean isMistaken(RelNode rel) {
    return rel instanceof Correlate
        || rel instanceof Aggregate
        || (rel instanceof Join join && join.getJoinType().isOuterJoin());
  }

  /// Whether rows or values may be others the next time: those of a limit by an order that is not total, of which several tasks keep the
  /// first, of a sample, or of random(). A subquery that is evaluated by row is so by one task, in the same way each time.
  private static boolean isUnrepeatable(RelNode rel) {
    if (isRandom(rel) || isLimit(rel)) {
      return true;
    }
    return rel instanceof Correlate correlate
        ? isUnrepeatable(correlate.getLeft())
            || Inspection.any(correlate.getRight(), Decorrelation::isVolatile)
        : rel.getInputs().stream().anyMatch(Decorrelation::isUnrepeatable);
  }

  /// Whether it makes other rows or values each time, also in one task.
  static boolean isRandom(RelNode rel) {
    return rel instanceof SampledRows || isVolatile(rel);
  }

  private static boolean isLimit(RelNode rel) {
    return rel instanceof Sort sort && (sort.fetch != null || sort.offset != null);
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

  private static boolean uses(RelNode rel, CorrelationId id) {
    return RelOptUtil.getVariablesUsed(rel).contains(id);
  }

  /// Whether it names no rows but its own.
  private static boolean isClosed(RelNode rel) {
    return RelOptUtil.getVariablesUsed(rel).isEmpty();
  }

  /// Without a look at what Calcite is not to see: subqueries that stay as they are, by row or because they had their turn, of which none
  /// is below another one, so that what they name is seen; and groups and limits that depend on no row: of groups Calcite makes one where
  /// the key is a constant, even if they have no rows, and a limit is not to be a parameter.
  private RelNode hidden(RelNode rel) {
    return BottomUp.rewrite(
        rel,
        each ->
            switch (each) {
              case Correlate inner
                  when byRow.contains(inner.getCorrelationId()) || isClosed(inner) ->
                  new Hidden(shown(inner));
              case Aggregate groups when isClosed(groups) -> new Hidden(shown(groups));
              case Sort limit when isLimit(limit) && isClosed(limit) -> new Hidden(shown(limit));
              default -> each;
            });
  }

  /// How a subquery names outer queries.
  private static final class Uses extends RelVisitor {
    private final CorrelationId id;

    /// Whether in what an outer join may find nothing of.
    boolean inOuterJoin;

    /// Whether over subqueries that name rows further out, too: of what is compared with both it forgets a part.
    boolean overOthers;

    /// Whether in a column that is computed from groups.
    boolean aboveGroups;

    /// Whether in a recursion, of which it makes no joins.
    boolean ofRecursion;

    /// Whether below what refuses more than one row: a join would ask about the rows of all values, also of those that no outer row has.
    boolean mayRefuse;

    /// Whether in a limit that is a parameter, of which it makes a comparison with null where it is null; or in groups with a constant for
    /// one of several keys, whose place it mistakes; or in the condition of a join, of which it forgets a part.
    boolean inexact;

    /// Whether in what rows are made of, which have no join to be had from.
    boolean ofArguments;

    /// Whether in groups of which there is one without rows, too, in a place where an outer join does not make it.
    boolean losesGroup;

    /// The groups that an outer join makes.
    private final @Nullable RelNode joinedGroups;

    /// The number of filters.
    int filters;

    /// Whether one of the filters may be true where the outer column is null.
    boolean ofNull;

    /// Whether both sides of a join name one column, of which it compares no values; or expressions name some of the columns that are named
    /// below them, and others; or a filter others, of which one that equals a column of its input is taken from the place that this had
    /// before what is named below it became columns, too.
    boolean forgets;

    private Uses(Correlate correlate) {
      this.id = correlate.getCorrelationId();
      RelNode top = correlate.getRight();
      while (top instanceof Project) {
        top = top.getInput(0);
      }
      this.joinedGroups = correlate.getJoinType() == JoinRelType.LEFT ? top : null;
    }

    static Uses of(Correlate correlate) {
      Uses uses = new Uses(correlate);
      uses.go(correlate.getRight());
      return uses;
    }

    /// Whether rows would be lost by Calcite's join.
    boolean loseRows() {
      return ofRecursion
          || ofArguments
          || mayRefuse
          || losesGroup
          || inexact
          || inOuterJoin
          || overOthers
          || aboveGroups
          || forgets
          || (filters > 1 && ofNull);
    }

    /// Outer columns that are named.
    private ImmutableBitSet columns(RelNode rel) {
      return RelOptUtil.correlationColumns(id, rel);
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
        ImmutableBitSet below = columns(node.getInput(0));
        forgets |=
            !below.contains(own)
                && (own.intersects(below) || (node instanceof Filter && moves(node.getInput(0))));
      }
    }

    /// Whether columns have other places when what is named in it has become columns.
    private boolean moves(RelNode rel) {
      return switch (rel) {
        case Project project -> false;
        case Filter filter -> moves(filter.getInput());
        case Join join -> uses(join.getLeft(), id) || moves(join.getRight());
        default -> uses(rel, id);
      };
    }

    @Override
    public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
      switch (node) {
        case Join join -> {
          inOuterJoin |=
              join.getJoinType().isOuterJoin() && !RelOptUtil.getVariablesUsed(join).isEmpty();
          inexact |= RexUtil.containsCorrelation(join.getCondition());
          forgets |= columns(join.getLeft()).intersects(columns(join.getRight()));
        }
        case RecursiveRows recursion -> ofRecursion |= recursion.isCorrelated();
        case Aggregate aggregate -> {
          mayRefuse |= CorrelationCost.isSingleValue(aggregate) && uses(aggregate, id);
          inexact |= aggregate.getGroupCount() > 1 && hasConstantKey(aggregate);
          losesGroup |=
              aggregate.getGroupCount() == 0
                  && uses(aggregate, id)
                  && !aggregate.equals(joinedGroups);
        }
        case Sort sort -> inexact |= !isKnown(sort.fetch) || !isKnown(sort.offset);
        case FunctionRows rows -> ofArguments |= uses(rows, id);
        case ExpressionRows rows -> ofArguments |= uses(rows, id);
        case Correlate inner -> overOthers = true;
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

    private static boolean isKnown(@Nullable RexNode limit) {
      return limit == null || limit instanceof RexLiteral;
    }

    private static boolean hasConstantKey(Aggregate aggregate) {
      return aggregate.getInput() instanceof Project project
          && aggregate.getGroupSet().asList().stream()
              .anyMatch(key -> project.getProjects().get(key) instanceof RexLiteral);
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
