package dev.kakehashi.engine.sql.binder;

import com.google.common.collect.ImmutableList;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// Binds subqueries in expressions: scalar, IN, EXISTS, ANY, ALL.
public final class SubqueryBinder {
  private final BindContext context;
  private final QueryBinder queries;

  SubqueryBinder(BindContext context, QueryBinder queries) {
    this.context = context;
    this.queries = queries;
  }

  RexNode exists(SqlNode query, Scope scope) {
    return RexSubQuery.exists(bind(query, scope, BoundQuery.Expectation.NONE).rel());
  }

  RexNode scalar(SqlNode query, Scope scope) {
    BoundQuery bound = bind(query, scope, BoundQuery.Expectation.NONE);
    if (bound.names().size() != 1) {
      throw context.error(ErrorCode.SYNTAX_ERROR, "subquery must return only one column", query);
    }
    return RexSubQuery.scalar(bound.rel());
  }

  /// `ARRAY(query)`: the values of its only column, in its order.
  RexNode array(SqlCall call, Scope scope) {
    SqlNode query = call.operand(0);
    BoundQuery bound = bind(query, scope, BoundQuery.Expectation.NONE);
    if (bound.names().size() != 1) {
      throw context.error(ErrorCode.SYNTAX_ERROR, "subquery must return only one column", query);
    }
    return new CollectedRows(queries).array(bound.rel(), call);
  }

  /// The columns of a subquery of at most one row, as a scalar subquery each.
  public List<RexNode> columns(SqlNode query, Scope scope) {
    List<RexNode> columns = new ArrayList<>();
    int count = bind(query, scope, BoundQuery.Expectation.NONE).names().size();
    for (int i = 0; i < count; i++) {
      RelNode rel = bind(query, scope, BoundQuery.Expectation.NONE).rel();
      RexNode column = context.rex.makeInputRef(rel, i);
      columns.add(
          RexSubQuery.scalar(
              queries.project(rel, List.of(column), List.of("c"), java.util.Set.of())));
    }
    return columns;
  }

  RexNode in(SqlCall call, Scope scope) {
    List<RexNode> left = leftSide(call.operand(0), scope);
    BoundQuery bound = bind(call.operand(1), scope, expectation(left));
    requireColumns(call, left, bound);
    List<RexNode> operands = new ArrayList<>();
    RelNode rel = align(call, left, bound, operands);
    return RexSubQuery.in(rel, ImmutableList.copyOf(operands));
  }

  /// `value operator ANY (query)` and ALL.
  RexNode quantified(SqlCall call, Scope scope) {
    SqlQuantifyOperator operator = (SqlQuantifyOperator) call.getOperator();
    if (call.operand(1) instanceof SqlNodeList list) {
      return queries.expressions.memberships.quantifiedArray(call, list, scope);
    }
    List<RexNode> left = leftSide(call.operand(0), scope);
    BoundQuery bound = bind(call.operand(1), scope, expectation(left));
    requireColumns(call, left, bound);
    List<RexNode> operands = new ArrayList<>();
    RelNode rel = align(call, left, bound, operands);
    if (operator.getKind() == SqlKind.SOME) {
      return operator.comparisonKind == SqlKind.EQUALS
          ? RexSubQuery.in(rel, ImmutableList.copyOf(operands))
          : RexSubQuery.some(rel, ImmutableList.copyOf(operands), operator);
    }
    // x op ALL (q) is NOT (x negated-op ANY (q)).
    SqlKind negated = operator.comparisonKind.negateNullSafe();
    RexNode any =
        negated == SqlKind.EQUALS
            ? RexSubQuery.in(rel, ImmutableList.copyOf(operands))
            : RexSubQuery.some(
                rel, ImmutableList.copyOf(operands), SqlStdOperatorTable.some(negated));
    return context.rex.makeCall(SqlStdOperatorTable.NOT, any);
  }

  private List<RexNode> leftSide(SqlNode node, Scope scope) {
    List<RexNode> left = new ArrayList<>();
    List<SqlNode> entries = RowComparisons.entries(node);
    if (entries != null) {
      for (SqlNode operand : entries) {
        left.add(queries.expressions.bind(operand, scope));
      }
    } else {
      left.add(queries.expressions.bind(node, scope));
    }
    return left;
  }

  private static BoundQuery.Expectation expectation(List<RexNode> left) {
    return BoundQuery.Expectation.of(left.stream().map(PgType::of).toList());
  }

  private void requireColumns(SqlNode at, List<RexNode> left, BoundQuery bound) {
    if (bound.names().size() != left.size()) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR,
          bound.names().size() > left.size()
              ? "subquery has too many columns"
              : "subquery has too few columns",
          at);
    }
  }

  /// Converts both sides to common types.
  private RelNode align(SqlNode at, List<RexNode> left, BoundQuery bound, List<RexNode> operands) {
    List<SqlType> targets = new ArrayList<>();
    for (int i = 0; i < left.size(); i++) {
      SqlType common =
          queries.expressions.calls.comparedType(PgType.of(left.get(i)), bound.types().get(i), at);
      SqlType target = SqlType.of(common.oid());
      targets.add(target);
      operands.addAll(queries.expressions.calls.convertAll(List.of(left.get(i)), target, "IN", at));
    }
    return queries.convertColumns(bound, targets, "IN", at);
  }

  /// Binds a subquery with a correlation name of its own for the scope around it.
  private BoundQuery bind(SqlNode query, Scope scope, BoundQuery.Expectation expectation) {
    CorrelationId saved = scope.correlation;
    scope.correlation = null;
    try {
      BoundQuery bound =
          context.barring("a subquery", () -> queries.bind(query, scope, expectation));
      if (scope.correlation != null) {
        scope.correlations().add(scope.correlation);
      }
      return bound;
    } finally {
      scope.correlation = saved;
    }
  }
}
