package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds functions in FROM: those that return rows, and any other as one row.
final class RowFunctionBinder {
  private static final String ORDINALITY = "ordinality";

  private final BindContext context;
  private final ExpressionBinder expressions;

  RowFunctionBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// Whether a part of FROM is a function, with or without an alias.
  static boolean accepts(SqlNode node) {
    return node.getKind() == SqlKind.COLLECTION_TABLE
        || (node.getKind() == SqlKind.AS
            && ((SqlCall) node).operand(0).getKind() == SqlKind.COLLECTION_TABLE);
  }

  /// The name of the function.
  static String name(SqlCall table) {
    String name = operator(table);
    return hasOrdinality(table) ? name.substring(Rewriter.ORDINALITY_PREFIX.length()) : name;
  }

  static boolean hasOrdinality(SqlCall table) {
    return operator(table).startsWith(Rewriter.ORDINALITY_PREFIX);
  }

  private static String operator(SqlCall table) {
    return ((SqlCall) table.operand(0)).getOperator().getName().toLowerCase(Locale.ROOT);
  }

  /// The rows of a function, and WITH ORDINALITY one more column.
  ///
  /// @param table the function as a table
  /// @param column its name
  /// @param parent scope of what the arguments may name
  RelNode bind(SqlCall table, String column, @Nullable Scope parent) {
    SqlCall call = table.operand(0);
    String name = name(table);
    Scope scope = new Scope(parent);
    scope.clause = "functions in FROM";
    List<RexNode> arguments = new ArrayList<>();
    for (SqlNode argument : call.getOperandList()) {
      arguments.add(expressions.bind(argument, scope));
    }
    RowFunction function = expressions.calls.rowFunction(call, name, arguments);
    if (function == null) {
      RexNode value =
          expressions.coercion.resolveUnknown(expressions.calls.function(call, name, arguments));
      List<RexNode> row = new ArrayList<>(List.of(value));
      if (hasOrdinality(table)) {
        row.add(expressions.coercion.constant(Constant.of(SqlType.of(TypeOid.INT8), 1)));
      }
      RelDataType rowType = rowType(table, context.types.builder().add(column, value.getType()));
      return new ExpressionRows(context.cluster, rowType, List.of(row));
    }
    List<RexNode> converted =
        expressions.calls.arguments(
            arguments, function.argumentOids(), call, call.getOperandList());
    RelDataTypeFactory.Builder columns = context.types.builder();
    for (RowFunction.Column one : function.columns()) {
      columns.add(
          one.name().isEmpty() ? column : one.name(),
          context.types.of(SqlType.of(one.oid()), true));
    }
    return new FunctionRows(
        context.cluster, rowType(table, columns), function, converted, hasOrdinality(table));
  }

  private RelDataType rowType(SqlCall table, RelDataTypeFactory.Builder rowType) {
    if (hasOrdinality(table)) {
      rowType.add(ORDINALITY, context.types.of(TypeOid.INT8, false));
    }
    return rowType.build();
  }
}
