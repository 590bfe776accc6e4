package dev.kakehashi.engine.sql.optimizer;

import com.google.common.collect.ImmutableSet;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.binder.RowComparisons;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// Comparisons of a row with the rows of a query, `(a, b) NOT IN (SELECT ...)` and `(a, b) < ANY (SELECT ...)`, become EXISTS.
///
/// One says whether there is a row that the comparison is true of, and another, if something may be null, whether there is one that it is
/// null of. `(a, b) IN (SELECT ...)` that has to be true stays: it is a semi-join. No condition of a join has subqueries afterwards
/// ([JoinSubqueries]).
final class RowSubqueries {
  private final RelOptCluster cluster;
  private final RexBuilder rex;

  private RowSubqueries(RelOptCluster cluster) {
    this.cluster = cluster;
    this.rex = cluster.getRexBuilder();
  }

  static RelNode convert(RelNode rel) {
    return new RowSubqueries(rel.getCluster()).visit(rel);
  }

  private RelNode visit(RelNode rel) {
    return BottomUp.rewrite(
        rel,
        each ->
            switch (each) {
              case LogicalFilter filter -> filter(filter);
              case LogicalProject project -> project(project);
              case LogicalJoin join -> join(join);
              default -> each;
            });
  }

  private RelNode filter(LogicalFilter filter) {
    Outer outer = new Outer(filter.getInput().getRowType(), filter.getVariablesSet());
    List<RexNode> terms = new ArrayList<>();
    for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
      terms.add(outer.condition(term));
    }
    return outer.changed
        ? LogicalFilter.create(
            filter.getInput(),
            RexUtil.flatten(rex, RexUtil.composeConjunction(rex, terms)),
            outer.variables())
        : filter;
  }

  private RelNode project(LogicalProject project) {
    Outer outer = new Outer(project.getInput().getRowType(), project.getVariablesSet());
    List<RexNode> columns = outer.apply(project.getProjects());
    return outer.changed
        ? LogicalProject.create(
            project.getInput(),
            project.getHints(),
            columns.stream().map(column -> RexUtil.flatten(rex, column)).toList(),
            project.getRowType().getFieldNames(),
            outer.variables())
        : project;
  }

  private RelNode join(LogicalJoin join) {
    RelNode converted = JoinSubqueries.convert(join);
    return converted.equals(join) ? join : visit(converted);
  }

  private static boolean comparesRows(RexNode node) {
    return node instanceof RexSubQuery subquery
        && (subquery.getKind() == SqlKind.IN || subquery.getKind() == SqlKind.SOME)
        && subquery.getOperands().size() > 1;
  }

  /// Expressions over one input.
  private final class Outer extends RexShuttle {
    private final RelDataType rowType;

    /// Names that subqueries have for a row of the input.
    private final Set<CorrelationId> variables;

    boolean changed;

    Outer(RelDataType rowType, Set<CorrelationId> variables) {
      this.rowType = rowType;
      this.variables = new HashSet<>(variables);
    }

    ImmutableSet<CorrelationId> variables() {
      return ImmutableSet.copyOf(variables);
    }

    /// A term that has to be true.
    RexNode condition(RexNode term) {
      if (comparesRows(term)) {
        RexSubQuery subquery = (RexSubQuery) term;
        return subquery.getKind() == SqlKind.IN ? inside(subquery) : exists(subquery, false);
      }
      if (term.getKind() == SqlKind.NOT
          && comparesRows(((RexCall) term).getOperands().getFirst())) {
        RexSubQuery subquery = (RexSubQuery) ((RexCall) term).getOperands().getFirst();
        RexNode none = rex.makeCall(SqlStdOperatorTable.NOT, exists(subquery, false));
        return mayBeNull(subquery)
            ? rex.makeCall(
                SqlStdOperatorTable.AND,
                none,
                rex.makeCall(SqlStdOperatorTable.NOT, exists(subquery, true)))
            : none;
      }
      return apply(term);
    }

    @Override
    public RexNode visitCall(RexCall call) {
      return RexUtil.flatten(rex, super.visitCall(call));
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subquery) {
      if (!comparesRows(subquery)) {
        return inside(subquery);
      }
      RexNode match = exists(subquery, false);
      return mayBeNull(subquery)
          ? rex.makeCall(
              SqlStdOperatorTable.OR,
              match,
              rex.makeCall(
                  SqlStdOperatorTable.AND,
                  exists(subquery, true),
                  rex.makeNullLiteral(subquery.getType())))
          : match;
    }

    /// The subquery with what is in it converted.
    private RexNode inside(RexSubQuery subquery) {
      RelNode rel = RowSubqueries.this.visit(subquery.rel);
      changed |= !rel.equals(subquery.rel);
      return super.visitSubQuery(rel.equals(subquery.rel) ? subquery : subquery.clone(rel));
    }

    private boolean mayBeNull(RexSubQuery subquery) {
      return subquery.getOperands().stream().anyMatch(each -> each.getType().isNullable())
          || subquery.rel.getRowType().getFieldList().stream()
              .anyMatch(field -> field.getType().isNullable());
    }

    /// Whether the query has a row for which the comparison is true.
    ///
    /// @param unknown whether it has one for which it is null instead
    private RexNode exists(RexSubQuery subquery, boolean unknown) {
      changed = true;
      CorrelationId id = cluster.createCorrel();
      RelNode rows = RowSubqueries.this.visit(subquery.rel);
      for (CorrelationId used : RelOptUtil.getVariablesUsed(rows)) {
        if (variables.contains(used)) {
          // One subquery has one name for the row.
          rows = renamed(rows, used, id);
        }
      }
      variables.add(id);
      RelNode query = rows;
      SqlKind kind =
          subquery.getOperator() instanceof SqlQuantifyOperator operator
              ? operator.comparisonKind
              : SqlKind.EQUALS;
      RexNode compared =
          RowComparisons.compare(
              kind,
              subquery.getOperands().size(),
              (each, entry) ->
                  rex.makeCall(
                      Comparison.operator(each),
                      correlated(subquery.getOperands().get(entry), id),
                      rex.makeInputRef(query, entry)),
              rex);
      RexNode condition = unknown ? rex.makeCall(SqlStdOperatorTable.IS_NULL, compared) : compared;
      return RexSubQuery.exists(filtered(query, condition));
    }

    private RexNode correlated(RexNode operand, CorrelationId id) {
      return operand.accept(
          new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
              return rex.makeFieldAccess(rex.makeCorrel(rowType, id), reference.getIndex());
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery inner) {
              throw new EngineException(
                  ErrorCode.FEATURE_NOT_SUPPORTED,
                  "a row with a subquery compared with the rows of a query is not supported");
            }
          });
    }
  }

  /// The rows with a condition on them, in one filter with that of their WHERE, if they are all that has.
  private RelNode filtered(RelNode rows, RexNode condition) {
    if (rows instanceof LogicalProject project
        && !project.containsOver()
        && project.getVariablesSet().isEmpty()
        && project.getProjects().stream().allMatch(RexUtil::isDeterministic)) {
      return filtered(
          project.getInput(), RelOptUtil.pushPastProject(List.of(condition), project).getFirst());
    }
    return rows instanceof LogicalFilter filter
        ? LogicalFilter.create(
            filter.getInput(),
            RexUtil.composeConjunction(rex, List.of(filter.getCondition(), condition)),
            ImmutableSet.copyOf(filter.getVariablesSet()))
        : LogicalFilter.create(rows, condition);
  }

  private RelNode renamed(RelNode rel, CorrelationId from, CorrelationId to) {
    RexShuttle rename =
        new RexShuttle() {
          @Override
          public RexNode visitCorrelVariable(RexCorrelVariable variable) {
            return variable.id.equals(from) ? rex.makeCorrel(variable.getType(), to) : variable;
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subquery) {
            return super.visitSubQuery(subquery.clone(renamed(subquery.rel, from, to)));
          }
        };
    return BottomUp.rewrite(rel, each -> each.accept(rename));
  }
}
