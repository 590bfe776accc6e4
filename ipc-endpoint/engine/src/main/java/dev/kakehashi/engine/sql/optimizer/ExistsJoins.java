package dev.kakehashi.engine.sql.optimizer;

import com.google.common.collect.ImmutableSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/// EXISTS and NOT EXISTS in WHERE become semi- and anti-joins, where the subquery names columns of the outer query in its own WHERE only.
///
/// The general removal of correlations joins the subquery with the distinct values of the outer columns, for which it evaluates the outer
/// query once more; here each side is evaluated once. PostgreSQL's `convert_EXISTS_sublink_to_join`.
final class ExistsJoins {
  private final RexBuilder rex;

  private ExistsJoins(RexBuilder rex) {
    this.rex = rex;
  }

  static RelNode convert(RelNode rel) {
    return new ExistsJoins(rel.getCluster().getRexBuilder()).visit(rel);
  }

  private RelNode visit(RelNode rel) {
    return rel.accept(
        new RelHomogeneousShuttle() {
          @Override
          public RelNode visit(RelNode other) {
            if (other instanceof Correlate) {
              return other;
            }
            RelNode visited = super.visit(other);
            return visited instanceof LogicalFilter filter ? filter(filter) : visited;
          }
        });
  }

  private RelNode filter(LogicalFilter filter) {
    List<RexNode> others = new ArrayList<>();
    List<Exists> joins = new ArrayList<>();
    int columns = filter.getRowType().getFieldCount();
    for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
      Exists join = exists(term, filter.getVariablesSet(), columns);
      if (join == null) {
        others.add(term);
      } else {
        joins.add(join);
      }
    }
    if (joins.isEmpty()) {
      return filter;
    }
    RelNode rel = filter.getInput();
    if (!others.isEmpty()) {
      rel = filtered(rel, others, filter.getVariablesSet());
    }
    for (Exists join : joins) {
      rel = LogicalJoin.create(rel, join.right, List.of(), join.condition, Set.of(), join.joinType);
    }
    return rel;
  }

  /// A join in place of a subquery.
  ///
  /// @param condition over the outer query's columns, then those of `right`
  private record Exists(RelNode right, RexNode condition, JoinRelType joinType) {}

  /// The join that a term of WHERE is; null if it is something else, or too intricate.
  private @Nullable Exists exists(RexNode term, Set<CorrelationId> outer, int columns) {
    boolean negated = term.getKind() == SqlKind.NOT;
    RexNode inner = negated ? ((RexCall) term).getOperands().getFirst() : term;
    if (!(inner instanceof RexSubQuery subquery) || inner.getKind() != SqlKind.EXISTS) {
      return null;
    }
    RelNode rows = subquery.rel;
    while (hasNoEffect(rows)) {
      rows = rows.getInput(0);
    }
    List<RexNode> across = new ArrayList<>();
    List<RexNode> within = new ArrayList<>();
    Set<CorrelationId> inWithin = new HashSet<>();
    while (rows instanceof Filter filter) {
      for (RexNode each : RelOptUtil.conjunctions(filter.getCondition())) {
        boolean local = filter.getVariablesSet().containsAll(variables(List.of(each)));
        (local ? within : across).add(each);
      }
      inWithin.addAll(filter.getVariablesSet());
      rows = filter.getInput();
    }
    if (across.isEmpty()
        || !RelOptUtil.getVariablesUsed(rows).isEmpty()
        || !across.stream().allMatch(each -> isPlain(each, outer))) {
      return null;
    }
    RelNode right = within.isEmpty() ? rows : filtered(rows, within, inWithin);
    RexNode condition = joined(RexUtil.composeConjunction(rex, across), columns);
    return new Exists(visit(right), condition, negated ? JoinRelType.ANTI : JoinRelType.SEMI);
  }

  /// Whether there are rows with it if and only if there are without it.
  private static boolean hasNoEffect(RelNode rel) {
    return switch (rel) {
      case Project project -> !RexOver.containsOver(project.getProjects(), null);
      case Sort sort -> sort.offset == null && sort.fetch == null;
      default -> false;
    };
  }

  /// A filter that sets those of the variables that its subqueries use.
  private RelNode filtered(RelNode input, List<RexNode> terms, Set<CorrelationId> set) {
    Set<CorrelationId> used = variables(terms);
    used.retainAll(set);
    return LogicalFilter.create(
        input, RexUtil.composeConjunction(rex, terms), ImmutableSet.copyOf(used));
  }

  /// Outer queries that expressions name, also within subqueries.
  private static Set<CorrelationId> variables(List<RexNode> expressions) {
    Set<CorrelationId> variables = new HashSet<>();
    RexVisitorImpl<@Nullable Void> collector =
        new RexVisitorImpl<>(true) {
          @Override
          public @Nullable Void visitCorrelVariable(RexCorrelVariable variable) {
            variables.add(variable.id);
            return null;
          }

          @Override
          public @Nullable Void visitSubQuery(RexSubQuery subquery) {
            variables.addAll(RelOptUtil.getVariablesUsed(subquery.rel));
            return super.visitSubQuery(subquery);
          }
        };
    expressions.forEach(each -> each.accept(collector));
    return variables;
  }

  /// Whether a term without subqueries names columns of this outer query alone, and has the same value each time.
  private static boolean isPlain(RexNode term, Set<CorrelationId> outer) {
    return RexUtil.isDeterministic(term)
        && RexUtil.SubQueryFinder.find(term) == null
        && outer.containsAll(variables(List.of(term)));
  }

  private RexNode joined(RexNode condition, int columns) {
    return condition.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return rex.makeInputRef(reference.getType(), reference.getIndex() + columns);
          }

          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            return access.getReferenceExpr() instanceof RexCorrelVariable
                ? rex.makeInputRef(access.getType(), access.getField().getIndex())
                : super.visitFieldAccess(access);
          }
        });
  }
}
