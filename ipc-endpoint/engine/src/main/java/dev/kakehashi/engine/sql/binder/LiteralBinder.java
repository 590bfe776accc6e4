package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.type.SqlTypeName;

/// Binds literals and parameters.
final class LiteralBinder {
  private final BindContext context;
  private final ExpressionBinder expressions;

  LiteralBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// Literal of the statement where Calcite sees a parameter.
  Source.Literal source(SqlDynamicParam parameter) {
    return context.source.literals().get(parameter.getIndex());
  }

  RexNode bind(SqlDynamicParam node, Scope scope) {
    return bind(source(node), scope);
  }

  private RexNode bind(Source.Literal literal, Scope scope) {
    return switch (literal) {
      case Source.Literal.Parameter parameter -> {
        int oid = context.parameterOid(parameter.number());
        yield expressions.coercion.parameter(parameter.number(), oid == 0 ? Types.UNKNOWN : oid);
      }
      case Source.Literal.Text text ->
          expressions.coercion.constant(Constant.ofText(Types.UNKNOWN, text.value()));
      case Source.Literal.NumberText number -> number(number.text());
      case Source.Literal.Expression expression ->
          context.within(
              expression.text(),
              () -> expressions.bind(CalciteParser.parseExpression(expression.text()), scope));
      case Source.Literal.WithTies ties -> bind(ties.count(), scope);
      case Source.Literal.Path path ->
          throw new IllegalStateException("a value that is none: " + path);
    };
  }

  RexNode number(String text) {
    if (text.chars().allMatch(c -> (c >= '0' && c <= '9') || c == '-') && text.length() <= 20) {
      try {
        long value = Long.parseLong(text);
        int oid = value == (int) value ? TypeOid.INT4 : TypeOid.INT8;
        return expressions.coercion.constant(Constant.of(SqlType.of(oid), value));
      } catch (NumberFormatException tooLong) {
        // Falls through: numeric, as in PostgreSQL.
      }
    }
    try (VarHeap heap = new VarHeap()) {
      return expressions.coercion.constant(
          Constant.of(SqlType.of(TypeOid.NUMERIC), Values.parse(TypeOid.NUMERIC, text, heap)));
    }
  }

  RexNode bind(SqlLiteral literal) {
    if (literal.getTypeName() == SqlTypeName.NULL || literal.getValue() == null) {
      int oid = literal.getTypeName() == SqlTypeName.BOOLEAN ? TypeOid.BOOL : Types.UNKNOWN;
      return expressions.coercion.constant(Constant.ofNull(SqlType.of(oid)));
    }
    if (literal.getTypeName() == SqlTypeName.BOOLEAN) {
      return context.rex.makeLiteral(literal.booleanValue());
    }
    throw expressions.unsupported(literal, "literal " + literal);
  }
}
