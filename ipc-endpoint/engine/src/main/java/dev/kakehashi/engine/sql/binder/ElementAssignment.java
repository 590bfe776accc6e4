package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.array.ArraySubscripts;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.json.JsonbSubscripts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;

/// `SET a[1] = x` and `SET j['k'] = x`: the column's new value, of its old one.
public final class ElementAssignment {
  private final ExpressionBinder expressions;

  public ElementAssignment(ExpressionBinder expressions) {
    this.expressions = expressions;
  }

  /// The value of the whole column.
  ///
  /// @param element the subscripted column
  /// @param old the column's value without the assignment
  /// @param value the element's
  /// @throws EngineException 42804 for a column without elements or a value of another type, 0A000 for slices, 54000 for too many
  ///     subscripts
  public RexNode assigned(SqlNode element, RexNode old, RexNode value, Column column, Scope scope) {
    SqlCall subscripts = (SqlCall) element;
    int oid = column.type().oid();
    if (oid == TypeOid.JSONB) {
      SqlNode first = ((SqlCall) subscripts.operand(1)).operand(0);
      RexNode path = expressions.arrays.path(subscripts, scope);
      boolean ofArray = Comparison.isInteger(PgType.oidOf(expressions.bind(first, scope)));
      return call(
          JsonbSubscripts.assignment(ofArray),
          List.of(old, converted(value, SqlType.of(oid), column, element), path),
          column);
    }
    int elementOid = TypeOid.element(oid);
    if (elementOid == TypeOid.UNSPECIFIED) {
      throw expressions.context.error(
          ErrorCode.DATATYPE_MISMATCH,
          "cannot subscript type " + Types.name(oid) + " because it does not support subscripting",
          element);
    }
    List<RexNode> arguments = new ArrayList<>();
    arguments.add(old);
    arguments.add(
        converted(value, new SqlType(elementOid, column.type().typeModifier()), column, element));
    for (SqlNode operand : subscripts.getOperandList().subList(1, subscripts.operandCount())) {
      if (ArrayBinder.isCall(operand, Marks.SLICE_CALL)) {
        throw expressions.unsupported(operand, "assignment to a slice of an array");
      }
      arguments.add(expressions.arrays.integer(((SqlCall) operand).operand(0), scope));
    }
    int subscripted = arguments.size() - 2;
    if (subscripted > ArrayValue.MAX_DIMENSIONS) {
      throw ArrayValue.tooManyDimensions(subscripted);
    }
    return call(ArraySubscripts.assignment(oid, subscripted), arguments, column);
  }

  private RexNode call(ScalarFunction function, List<RexNode> arguments, Column column) {
    return expressions.coercion.call(function, arguments, column.type(), "");
  }

  private RexNode converted(RexNode value, SqlType type, Column column, SqlNode at) {
    RexNode converted = expressions.coercion.convert(value, type, CastContext.ASSIGNMENT);
    if (converted == null) {
      throw expressions
          .context
          .error(
              ErrorCode.DATATYPE_MISMATCH,
              "subscripted assignment to \""
                  + column.name()
                  + "\" requires type "
                  + Types.name(type.oid())
                  + " but expression is of type "
                  + Types.name(PgType.oidOf(value)),
              at)
          .withHint("You will need to rewrite or cast the expression.");
    }
    return converted;
  }
}
