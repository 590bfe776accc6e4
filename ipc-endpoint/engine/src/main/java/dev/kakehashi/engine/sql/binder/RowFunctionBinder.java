package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.lexer.ReservedWords;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds functions in FROM: those that return rows, and any other as one row.
final class RowFunctionBinder {
  private static final String ORDINALITY = "ordinality";
  private static final String UNNEST = "unnest";

  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;

  RowFunctionBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
  }

  /// Whether a part of FROM is a function, with or without an alias.
  static boolean accepts(SqlNode node) {
    return node.getKind() == SqlKind.COLLECTION_TABLE
        || (node.getKind() == SqlKind.AS
            && ((SqlCall) node).operand(0).getKind() == SqlKind.COLLECTION_TABLE);
  }

  /// The name of the table if it is not given one.
  static String defaultName(SqlCall table) {
    String name = name(table);
    return name.equals(Marks.ROWS_FROM_CALL)
            && ((SqlCall) table.operand(0)).operand(0) instanceof SqlCall first
        ? first.getOperator().getName().toLowerCase(Locale.ROOT)
        : name;
  }

  private static String name(SqlCall table) {
    String name = operator(table);
    return hasOrdinality(table) ? name.substring(Marks.ORDINALITY_PREFIX.length()) : name;
  }

  private static boolean hasOrdinality(SqlCall table) {
    return operator(table).startsWith(Marks.ORDINALITY_PREFIX);
  }

  private static String operator(SqlCall table) {
    return ((SqlCall) table.operand(0)).getOperator().getName().toLowerCase(Locale.ROOT);
  }

  /// The rows of a function, or of several side by side, and WITH ORDINALITY one more column.
  ///
  /// @param table the functions as a table
  /// @param column the name of a single function's column
  /// @param parent scope of what the arguments may name
  BoundQuery bind(SqlCall table, String column, @Nullable Scope parent) {
    SqlCall call = table.operand(0);
    Scope scope = new Scope(parent, "functions in FROM");
    List<FunctionCall> functions = functions(table);
    boolean ordinality = hasOrdinality(table);
    if (functions.size() == 1) {
      RelNode rows = rows(call, functions.getFirst(), column, ordinality, scope);
      return new BoundQuery(rows, rows.getRowType().getFieldNames());
    }
    RelNode all = null;
    List<String> names = new ArrayList<>();
    for (FunctionCall function : functions) {
      RelNode rows = rows(call, function, function.name, true, scope);
      names.addAll(rows.getRowType().getFieldNames());
      names.removeLast();
      all = all == null ? rows : NumberedSides.join(all, rows, queries);
    }
    RelNode joined = java.util.Objects.requireNonNull(all);
    if (ordinality) {
      names.add(ORDINALITY);
    }
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      columns.add(context.rex.makeInputRef(joined, i));
    }
    return new BoundQuery(queries.project(joined, columns, names, Set.of()), names);
  }

  /// A function of ROWS FROM.
  private record FunctionCall(String name, List<SqlNode> arguments) {}

  private List<FunctionCall> functions(SqlCall table) {
    SqlCall call = table.operand(0);
    String name = name(table);
    List<SqlNode> operands = call.getOperandList();
    if (name.equals(UNNEST) && operands.size() > 1) {
      return operands.stream().map(array -> new FunctionCall(UNNEST, List.of(array))).toList();
    }
    if (!name.equals(Marks.ROWS_FROM_CALL)) {
      return List.of(new FunctionCall(name, operands));
    }
    List<FunctionCall> functions = new ArrayList<>();
    for (SqlNode operand : operands) {
      if (!(operand instanceof SqlCall function)
          || !(function.getOperator() instanceof SqlFunction)) {
        throw context.error(ErrorCode.SYNTAX_ERROR, "ROWS FROM takes calls of functions", operand);
      }
      functions.add(
          new FunctionCall(
              function.getOperator().getName().toLowerCase(Locale.ROOT),
              function.getOperandList()));
    }
    return functions;
  }

  private RelNode rows(
      SqlCall at, FunctionCall call, String column, boolean ordinality, Scope scope) {
    if (ReservedWords.looksLikeCall(call.name)) {
      // COALESCE and its like are no functions.
      RexNode value = expressions.bindNamed(at, call.name, scope);
      return oneRow(expressions.coercion.resolveUnknown(value), column, ordinality);
    }
    RecordFunctionBinder records = new RecordFunctionBinder(queries);
    if (RecordFunctionBinder.isDefined(call.arguments)) {
      List<SqlNode> own = call.arguments.subList(0, call.arguments.size() - 1);
      List<RexNode> bound = bound(own, scope);
      RowFunction function = records.function(at, call.name, bound);
      RelNode objects =
          rows(
              function,
              expressions.calls.arguments(bound, function.argumentOids(), at, own),
              column,
              false);
      return records.columns(objects, (SqlCall) call.arguments.getLast());
    }
    records.refuseUndefined(at, call.name);
    if (NamedArguments.areIn(call.name, call.arguments)) {
      NamedArguments named = new NamedArguments(expressions, at, call.name, call.arguments);
      if (!named.isVariadic()) {
        return named.resolve(
            node -> expressions.bind(node, scope),
            bound -> {
              RowFunction function = expressions.calls.rowFunction(at, call.name, bound);
              return function == null
                  ? oneRow(
                      expressions.coercion.resolveUnknown(
                          expressions.calls.function(at, call.name, bound, named.nodes())),
                      column,
                      ordinality)
                  : rows(
                      function,
                      expressions.calls.arguments(
                          bound, function.argumentOids(), at, named.nodes()),
                      column,
                      ordinality);
            });
      }
    }
    List<RexNode> arguments = bound(call.arguments, scope);
    RowFunction function = expressions.calls.rowFunction(at, call.name, arguments);
    if (function == null) {
      RexNode value = expressions.bindFunction(at, call.name, call.arguments, scope);
      return oneRow(expressions.coercion.resolveUnknown(value), column, ordinality);
    }
    return rows(
        function,
        expressions.calls.arguments(arguments, function.argumentOids(), at, call.arguments),
        column,
        ordinality);
  }

  private List<RexNode> bound(List<SqlNode> arguments, Scope scope) {
    List<RexNode> bound = new ArrayList<>();
    for (SqlNode argument : arguments) {
      bound.add(expressions.bind(argument, scope));
    }
    return bound;
  }

  /// @param converted the arguments, of the types that the function declares
  private RelNode rows(
      RowFunction function, List<RexNode> converted, String column, boolean ordinality) {
    RelDataTypeFactory.Builder columns = context.types.builder();
    for (RowFunction.Column one : function.columns()) {
      columns.add(
          one.name().isEmpty() ? column : one.name(),
          context.types.of(SqlType.of(one.oid()), true));
    }
    RelDataType rowType = rowType(ordinality, columns);
    if (converted.stream().noneMatch(Inspection::hasSubquery)) {
      return new FunctionRows(context.cluster, rowType, function, converted, ordinality);
    }
    return ofSubqueries(
        converted,
        computed -> new FunctionRows(context.cluster, rowType, function, computed, ordinality));
  }

  /// Rows of a function whose arguments are computed first, because there are subqueries in them.
  private RelNode ofSubqueries(List<RexNode> arguments, Function<List<RexNode>, RelNode> function) {
    List<String> names = new ArrayList<>();
    arguments.forEach(each -> names.add("a" + names.size()));
    RelNode row = queries.project(queries.oneRow(), arguments, names, Set.of());
    CorrelationId id = context.newCorrelation();
    RexNode outer = context.rex.makeCorrel(row.getRowType(), id);
    List<RexNode> computed = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      computed.add(context.rex.makeFieldAccess(outer, i));
    }
    RelNode rows = function.apply(computed);
    RelNode all =
        LogicalCorrelate.create(
            row, rows, List.of(), id, RelOptUtil.correlationColumns(id, rows), JoinRelType.INNER);
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < rows.getRowType().getFieldCount(); i++) {
      columns.add(context.rex.makeInputRef(all, arguments.size() + i));
    }
    return queries.project(all, columns, rows.getRowType().getFieldNames(), Set.of());
  }

  private RelNode oneRow(RexNode value, String column, boolean ordinality) {
    List<RexNode> row = new ArrayList<>(List.of(value));
    if (ordinality) {
      row.add(expressions.coercion.constant(Constant.of(SqlType.of(TypeOid.INT8), 1)));
    }
    RelDataType rowType = rowType(ordinality, context.types.builder().add(column, value.getType()));
    return queries.rows(rowType, List.of(row), Set.of());
  }

  private RelDataType rowType(boolean ordinality, RelDataTypeFactory.Builder rowType) {
    if (ordinality) {
      rowType.add(ORDINALITY, context.types.of(TypeOid.INT8, false));
    }
    return rowType.build();
  }
}
