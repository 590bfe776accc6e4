package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.sql.PgOperators.AggregateOperator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.Aggregates;
import dev.kakehashi.engine.type.Functions;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// Recognises aggregate calls and registers them with the SELECT that they belong to.
final class AggregateBinder {
  private final BindContext context;
  private final ExpressionBinder expressions;

  AggregateBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// The aggregate's place holder, or null if the call is no aggregate.
  @Nullable RexNode bind(SqlCall node, String name, Scope scope) {
    SqlCall call = node;
    SqlNode filter = null;
    if (node.getKind() == SqlKind.FILTER) {
      call = node.operand(0);
      filter = node.operand(1);
    }
    String functionName = call.getOperator().getName().toLowerCase(java.util.Locale.ROOT);
    if (!Aggregates.isAggregate(functionName)) {
      if (filter != null) {
        throw context.error(
            ErrorCode.WRONG_OBJECT_TYPE,
            "FILTER specified, but " + functionName + " is not an aggregate function",
            node);
      }
      return null;
    }
    Aggregation aggregation = scope.aggregation;
    if (aggregation == null) {
      throw context.error(
          ErrorCode.GROUPING_ERROR, "aggregate functions are not allowed in " + scope.clause, node);
    }
    if (aggregation.inside) {
      throw context.error(
          ErrorCode.GROUPING_ERROR, "aggregate function calls cannot be nested", node);
    }
    aggregation.inside = true;
    try {
      Aggregation.Call bound = call(call, functionName, filter, scope);
      return context.rex.makeInputRef(bound.type(), Aggregation.MARKER + aggregation.add(bound));
    } finally {
      aggregation.inside = false;
    }
  }

  private Aggregation.Call call(SqlCall call, String name, @Nullable SqlNode filter, Scope scope) {
    boolean distinct =
        call.getFunctionQuantifier() != null
            && call.getFunctionQuantifier().symbolValue(SqlSelectKeyword.class)
                == SqlSelectKeyword.DISTINCT;
    List<RexNode> arguments = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      if (operand instanceof SqlNodeList) {
        throw expressions.unsupported(operand, "ORDER BY in an aggregate");
      }
      if (operand instanceof SqlIdentifier identifier && identifier.isStar()) {
        continue;
      }
      arguments.add(expressions.bind(operand, scope));
    }
    RexNode condition =
        filter == null ? null : expressions.bindCondition(filter, scope, "argument of FILTER");
    if (name.equals("count")) {
      boolean star = arguments.isEmpty();
      List<RexNode> typed = arguments.stream().map(expressions.coercion::resolveUnknown).toList();
      if (typed.size() > 1 || (star && call.operandCount() == 0)) {
        throw noAggregate(call, name, arguments);
      }
      return new Aggregation.Call(
          SqlStdOperatorTable.COUNT,
          typed,
          distinct,
          condition,
          context.types.of(TypeOid.INT8, false));
    }
    return typed(call, name, arguments, distinct, condition);
  }

  private Aggregation.Call typed(
      SqlCall call,
      String name,
      List<RexNode> arguments,
      boolean distinct,
      @Nullable RexNode condition) {
    AggregateFunction function =
        Aggregates.resolve(name, arguments.stream().mapToInt(Coercion::oidOf).toArray());
    if (function == null) {
      throw noAggregate(call, name, arguments);
    }
    List<RexNode> converted = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      RexNode one = expressions.coercion.argument(arguments.get(i), function.argumentOids()[i]);
      if (one == null) {
        throw noAggregate(call, name, arguments);
      }
      converted.add(one);
    }
    SqlType type = SqlType.of(function.resultOid());
    SqlType argumentType = Coercion.typeOf(converted.getFirst());
    if ((name.equals("min") || name.equals("max")) && argumentType.oid() == type.oid()) {
      type = argumentType;
    }
    RelDataType relType = context.types.of(type, true);
    return new Aggregation.Call(
        new AggregateOperator(function, relType), converted, distinct, condition, relType);
  }

  private RuntimeException noAggregate(SqlCall call, String name, List<RexNode> arguments) {
    int[] oids = arguments.stream().mapToInt(Coercion::oidOf).toArray();
    for (int i = 0; i < oids.length; i++) {
      oids[i] = oids[i] == 0 ? Types.UNKNOWN : oids[i];
    }
    return context
        .error(
            ErrorCode.UNDEFINED_FUNCTION,
            "function " + Functions.describe(name, oids) + " does not exist",
            call)
        .withHint(
            "No function matches the given name and argument types. You might need to add explicit type casts.");
  }
}
