package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOperator;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.aggregate.CollectingAggregates;
import dev.kakehashi.engine.type.aggregate.StandardAggregates;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLocalRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
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
    SqlNodeList order = SqlNodeList.EMPTY;
    if (call.getKind() == SqlKind.WITHIN_GROUP) {
      order = call.operand(1);
      call = call.operand(0);
    }
    if (WindowBinder.isNullTreatment(call)) {
      throw expressions.windows.noWindow(call, scope);
    }
    String functionName = call.getOperator().getName().toLowerCase(java.util.Locale.ROOT);
    if (functionName.equals("grouping")) {
      return grouping(call, scope);
    }
    boolean hypothetical = !order.isEmpty() && Aggregates.isHypothetical(functionName);
    if (!hypothetical
        && !Aggregates.isAggregate(functionName)
        && !expressions.calls.applications.isAggregate(call, functionName)) {
      if (!order.isEmpty()) {
        throw context.error(
            ErrorCode.UNDEFINED_FUNCTION,
            "ORDER BY specified, but " + functionName + " is not an aggregate function",
            node);
      }
      if (filter != null) {
        throw context.error(
            ErrorCode.WRONG_OBJECT_TYPE,
            "FILTER specified, but " + functionName + " is not an aggregate function",
            node);
      }
      return null;
    }
    Scope owner = expressions.names.ownerOfAggregate(node, scope);
    if (owner.recursive) {
      throw context.error(
          ErrorCode.INVALID_RECURSION,
          "aggregate functions are not allowed in a recursive query's recursive term",
          node);
    }
    Aggregation aggregation = owner.clause().aggregation();
    if (aggregation == null) {
      throw context.error(
          ErrorCode.GROUPING_ERROR,
          "aggregate functions are not allowed in " + owner.clause().name(),
          node);
    }
    if (aggregation.inside) {
      throw context.error(
          ErrorCode.GROUPING_ERROR, "aggregate function calls cannot be nested", node);
    }
    aggregation.inside = true;
    try {
      RexLocalRef place = aggregation.add(call(call, functionName, filter, order, owner));
      return owner == scope ? place : expressions.names.outer(place, owner);
    } finally {
      aggregation.inside = false;
    }
  }

  /// An aggregate that is used as a window function.
  Aggregation.Call overWindow(SqlCall call, String name, @Nullable SqlNode filter, Scope scope) {
    if (Aggregates.isOrderedSet(name)) {
      throw expressions.unsupported(call, "OVER for ordered-set aggregate " + name);
    }
    Aggregation.Call bound = call(call, name, filter, SqlNodeList.EMPTY, scope);
    if (bound.distinct()) {
      throw expressions.unsupported(call, "DISTINCT for window functions");
    }
    return bound;
  }

  /// grouping(...): which of its arguments the group's set lacks, as bits.
  private RexNode grouping(SqlCall call, Scope scope) {
    Aggregation aggregation = scope.clause().aggregation();
    if (aggregation == null) {
      throw context.error(
          ErrorCode.GROUPING_ERROR,
          "grouping operations are not allowed in " + scope.clause().name(),
          call);
    }
    List<RexNode> arguments = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      arguments.add(expressions.bindTyped(operand, scope));
    }
    RelDataType type = context.types.of(TypeOid.INT8, false);
    Aggregation.Call bound =
        new Aggregation.Call(SqlStdOperatorTable.GROUPING, arguments, false, null, List.of(), type);
    RexNode place = aggregation.add(bound);
    return java.util.Objects.requireNonNull(
        expressions.coercion.convert(place, SqlType.of(TypeOid.INT4), CastContext.EXPLICIT));
  }

  private Aggregation.Call call(
      SqlCall call, String name, @Nullable SqlNode filter, SqlNodeList orderBy, Scope scope) {
    Aggregation.Call bound = unguarded(call, name, filter, orderBy, scope);
    RexNode condition = bound.filter();
    return condition == null
            || !RexUtil.isDeterministic(condition)
            || RexUtil.SubQueryFinder.find(condition) != null
        ? bound
        : new Aggregation.Call(
            bound.function(),
            bound.arguments().stream().map(argument -> guarded(condition, argument)).toList(),
            bound.distinct(),
            condition,
            bound.order().stream()
                .map(key ->
                    new Windowing.Key(
                        guarded(condition, key.expression()), key.descending(), key.nullsFirst()))
                .toList(),
            bound.type());
  }

  /// An argument that is computed from a row may fail: it is computed only for rows that FILTER lets through. The condition is evaluated
  /// twice then.
  private RexNode guarded(RexNode filter, RexNode argument) {
    if (!(argument instanceof RexCall)
        || RelOptUtil.InputFinder.bits(argument).isEmpty()
        || RexUtil.SubQueryFinder.find(argument) != null) {
      return argument;
    }
    return context.rex.makeCall(
        context.types.createTypeWithNullability(argument.getType(), true),
        PgOperators.CASE,
        List.of(
            filter, argument, expressions.coercion.constant(Constant.ofNull(PgType.of(argument)))));
  }

  private Aggregation.Call unguarded(
      SqlCall call, String name, @Nullable SqlNode filter, SqlNodeList orderBy, Scope scope) {
    boolean distinct =
        call.getFunctionQuantifier() != null
            && call.getFunctionQuantifier().symbolValue(SqlSelectKeyword.class)
                == SqlSelectKeyword.DISTINCT;
    List<RexNode> arguments = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      if (operand instanceof SqlIdentifier identifier
          && identifier.isStar()
          && !RecordBinder.isRow(identifier)) {
        continue;
      }
      // Rows are told apart by their texts.
      arguments.add(
          distinct && name.equals("count")
              ? expressions.bind(operand, scope)
              : expressions.bindArgument(name, operand, scope));
    }
    RexNode condition =
        filter == null ? null : expressions.bindCondition(filter, scope, "argument of FILTER");
    List<Windowing.Key> order = new ArrayList<>();
    for (SqlNode item : orderBy) {
      SortOrder.Item key = SortOrder.item(item);
      order.add(
          new Windowing.Key(
              expressions.bindTyped(key.expression(), scope), key.descending(), key.nullsFirst()));
    }
    if (name.equals("json_agg")
        && call.operandCount() == 1
        && expressions.records.row(call.operand(0), scope) != null) {
      return typed(
          call, CollectingAggregates.JSON_AGG_OF_ROWS, arguments, distinct, condition, order);
    }
    if (Aggregates.isHypothetical(name)) {
      return hypothetical(call, name, arguments, order, distinct, condition);
    }
    if (Aggregates.isOrderedSet(name)) {
      return orderedSet(call, name, arguments, order, distinct, condition);
    }
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
          List.of(),
          context.types.of(TypeOid.INT8, false));
    }
    return typed(call, name, arguments, distinct, condition, order);
  }

  /// percentile_cont, percentile_disc, mode: the value is the only item of WITHIN GROUP.
  private Aggregation.Call orderedSet(
      SqlCall call,
      String name,
      List<RexNode> direct,
      List<Windowing.Key> order,
      boolean distinct,
      @Nullable RexNode condition) {
    if (order.isEmpty()) {
      throw context.error(
          ErrorCode.UNDEFINED_FUNCTION,
          "WITHIN GROUP is required for ordered-set aggregate " + name,
          call);
    }
    List<RexNode> all = new ArrayList<>(direct);
    order.forEach(key -> all.add(key.expression()));
    boolean mode = name.equals("mode");
    if (all.size() != (mode ? 1 : 2) || distinct) {
      throw noAggregate(call, name, all);
    }
    List<RexNode> arguments = new ArrayList<>();
    if (!mode) {
      int oid = PgType.oidOf(direct.getFirst());
      arguments.add(
          TypeOid.element(oid) == TypeOid.UNSPECIFIED
              ? toDouble(call, name, all, direct.getFirst())
              : converted(call, name, all, direct.getFirst(), TypeOid.arrayOf(TypeOid.FLOAT8)));
    }
    RexNode value = order.getFirst().expression();
    boolean interpolates =
        name.equals("percentile_cont") && PgType.oidOf(value) != TypeOid.INTERVAL;
    arguments.add(interpolates ? toDouble(call, name, all, value) : value);
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    AggregateFunction function =
        java.util.Objects.requireNonNull(Aggregates.resolve(name, oids), name);
    RelDataType type =
        function.resultOid() == oids[oids.length - 1]
            ? context.types.createTypeWithNullability(arguments.getLast().getType(), true)
            : context.types.of(SqlType.of(function.resultOid()), true);
    Windowing.Key key =
        new Windowing.Key(
            arguments.getLast(), order.getFirst().descending(), order.getFirst().nullsFirst());
    return new Aggregation.Call(
        new AggregateOperator(function, type), arguments, false, condition, List.of(key), type);
  }

  /// rank, dense_rank, percent_rank and cume_dist of a row with the values of the arguments.
  private Aggregation.Call hypothetical(
      SqlCall call,
      String name,
      List<RexNode> direct,
      List<Windowing.Key> order,
      boolean distinct,
      @Nullable RexNode condition) {
    List<RexNode> all = new ArrayList<>(direct);
    order.forEach(key -> all.add(key.expression()));
    int count = order.size();
    if (direct.size() != count || distinct) {
      throw noAggregate(call, name, all);
    }
    List<Windowing.Key> keys = new ArrayList<>();
    boolean[] descending = new boolean[count];
    boolean[] nullsFirst = new boolean[count];
    for (int i = 0; i < count; i++) {
      Windowing.Key key = order.get(i);
      SqlType common =
          expressions.coercion.commonType(
              List.of(PgType.of(key.expression()), PgType.of(direct.get(i))), "WITHIN GROUP", call);
      all.set(i, converted(call, name, all, direct.get(i), common.oid()));
      all.set(count + i, converted(call, name, all, key.expression(), common.oid()));
      keys.add(new Windowing.Key(all.get(count + i), key.descending(), key.nullsFirst()));
      descending[i] = key.descending();
      nullsFirst[i] = key.nullsFirst();
    }
    AggregateFunction function =
        java.util.Objects.requireNonNull(
            StandardAggregates.hypothetical(
                name, all.stream().mapToInt(PgType::oidOf).toArray(), descending, nullsFirst),
            name);
    RelDataType type = context.types.of(SqlType.of(function.resultOid()), true);
    return new Aggregation.Call(
        new AggregateOperator(function, type), all, false, condition, keys, type);
  }

  private RexNode toDouble(SqlCall call, String name, List<RexNode> all, RexNode node) {
    return converted(call, name, all, node, TypeOid.FLOAT8);
  }

  private RexNode converted(SqlCall call, String name, List<RexNode> all, RexNode node, int oid) {
    RexNode converted = expressions.coercion.convert(node, SqlType.of(oid), CastContext.IMPLICIT);
    if (converted == null) {
      throw noAggregate(call, name, all);
    }
    return converted;
  }

  private Aggregation.Call typed(
      SqlCall call,
      String name,
      List<RexNode> arguments,
      boolean distinct,
      @Nullable RexNode condition,
      List<Windowing.Key> order) {
    AggregateFunction function =
        Aggregates.resolve(name, arguments.stream().mapToInt(PgType::oidOf).toArray());
    if (function == null) {
      function =
          expressions.calls.applications.aggregate(
              call, name, arguments.stream().mapToInt(PgType::oidOf).toArray());
    }
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
    if (distinct
        && order.stream()
            .anyMatch(key ->
                !converted.contains(key.expression()) && !arguments.contains(key.expression()))) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
          call);
    }
    SqlType type = SqlType.of(function.resultOid());
    if ((name.equals("min") || name.equals("max"))
        && PgType.oidOf(converted.getFirst()) == type.oid()) {
      type = PgType.of(converted.getFirst());
    }
    RelDataType relType = context.types.of(type, true);
    return new Aggregation.Call(
        new AggregateOperator(function, relType), converted, distinct, condition, order, relType);
  }

  RuntimeException noAggregate(SqlCall call, String name, List<RexNode> arguments) {
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
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
