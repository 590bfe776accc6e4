package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.array.ArraySubscripts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// The syntax of arrays: constructors and subscripts.
final class ArrayBinder {
  /// A call has a bit for each of its arguments.
  private static final int MAX_ARGUMENTS = 60;

  private final BindContext context;
  private final ExpressionBinder expressions;

  ArrayBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// `ARRAY[...]`
  RexNode constructor(SqlCall call, Scope scope) {
    return constructor(call, scope, null);
  }

  /// @param cast array type that a cast around it asks for, or null
  RexNode constructor(SqlCall call, Scope scope, @Nullable SqlType cast) {
    if (call.operandCount() == 0) {
      if (cast == null) {
        throw context
            .error(ErrorCode.INDETERMINATE_DATATYPE, "cannot determine type of empty array", call)
            .withHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
      }
      return expressions.coercion.constant(Constant.ofText(cast.oid(), "{}"));
    }
    List<RexNode> elements = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      boolean inner = isConstructor(operand);
      RexNode element =
          inner ? constructor((SqlCall) operand, scope, cast) : expressions.bind(operand, scope);
      // The cast reaches the elements, so that a literal is read as the type wanted.
      elements.add(inner || cast == null ? element : converted(element, cast, operand));
    }
    SqlType type =
        expressions.coercion.commonType(elements.stream().map(PgType::of).toList(), "ARRAY", call);
    elements = expressions.calls.convertAll(elements, SqlType.of(type.oid()), "ARRAY", call);
    boolean nested = TypeOid.element(type.oid()) != TypeOid.UNSPECIFIED;
    int array = nested ? type.oid() : TypeOid.arrayOf(type.oid());
    if (array == TypeOid.UNSPECIFIED) {
      throw context.error(
          ErrorCode.UNDEFINED_OBJECT,
          "could not find array type for data type " + Types.name(type.oid()),
          call);
    }
    RexNode all = null;
    for (int from = 0; from < elements.size(); from += MAX_ARGUMENTS) {
      List<RexNode> part = elements.subList(from, Math.min(elements.size(), from + MAX_ARGUMENTS));
      RexNode some =
          expressions.coercion.call(
              ArraySubscripts.constructor(type.oid(), part.size()), part, SqlType.of(array), "");
      all = all == null ? some : expressions.calls.function(call, "array_cat", List.of(all, some));
    }
    return java.util.Objects.requireNonNull(all);
  }

  static boolean isConstructor(SqlNode node) {
    return isCall(node, Marks.ARRAY_CALL);
  }

  private RexNode converted(RexNode element, SqlType array, SqlNode at) {
    int from = PgType.oidOf(element);
    boolean inner = TypeOid.element(from) != TypeOid.UNSPECIFIED;
    int oid = inner ? array.oid() : TypeOid.element(array.oid());
    RexNode converted =
        expressions.coercion.convert(
            element, new SqlType(oid, array.typeModifier()), CastContext.EXPLICIT);
    if (converted == null) {
      throw expressions.coercion.noCast(from, oid, at);
    }
    return converted;
  }

  /// `a[1][2]`, `a[1:2]`
  RexNode subscript(SqlCall call, Scope scope) {
    RexNode array = expressions.bindTyped(call.operand(0), scope);
    int oid = PgType.oidOf(array);
    if (oid == TypeOid.JSONB) {
      return expressions.calls.function(call, "#>", List.of(array, path(call, scope)));
    }
    int element = TypeOid.element(oid);
    if (element == TypeOid.UNSPECIFIED) {
      throw context.error(
          ErrorCode.DATATYPE_MISMATCH,
          "cannot subscript type " + Types.name(oid) + " because it does not support subscripting",
          call);
    }
    List<SqlCall> subscripts = new ArrayList<>();
    boolean slice = false;
    for (int i = 1; i < call.operandCount(); i++) {
      SqlCall subscript = call.operand(i);
      subscripts.add(subscript);
      slice |= isCall(subscript, Marks.SLICE_CALL);
    }
    List<RexNode> arguments = new ArrayList<>(List.of(array));
    StringBuilder form = new StringBuilder();
    for (SqlCall subscript : subscripts) {
      boolean range = isCall(subscript, Marks.SLICE_CALL);
      int bounds = 0;
      for (int i = 0; i < subscript.operandCount(); i++) {
        SqlNode bound = subscript.operand(i);
        if (!isCall(bound, Marks.NO_BOUND_CALL)) {
          bounds |= 1 << i;
          arguments.add(integer(bound, scope));
        }
      }
      form.append(range ? "nlub".charAt(bounds) : 'i');
    }
    ScalarFunction function =
        slice
            ? ArraySubscripts.slice(oid, form.toString())
            : ArraySubscripts.element(oid, subscripts.size());
    return expressions.coercion.call(function, arguments, SqlType.of(function.resultOid()), "");
  }

  /// Subscripts of a jsonb as a path: keys, and places in arrays.
  RexNode path(SqlCall call, Scope scope) {
    List<RexNode> steps = new ArrayList<>();
    for (SqlNode operand : call.getOperandList().subList(1, call.operandCount())) {
      if (isCall(operand, Marks.SLICE_CALL)) {
        throw context.error(
            ErrorCode.DATATYPE_MISMATCH, "jsonb subscript does not support slices", operand);
      }
      RexNode step = expressions.bindTyped(((SqlCall) operand).operand(0), scope);
      int oid = PgType.oidOf(step);
      RexNode text =
          Comparison.isInteger(oid) || oid == TypeOid.TEXT || oid == TypeOid.VARCHAR
              ? expressions.coercion.convert(step, SqlType.of(TypeOid.TEXT), CastContext.ASSIGNMENT)
              : null;
      if (text == null) {
        throw context
            .error(
                ErrorCode.DATATYPE_MISMATCH,
                "subscript type " + Types.name(oid) + " is not supported",
                operand)
            .withHint("jsonb subscript must be coercible to either integer or text.");
      }
      steps.add(text);
    }
    return expressions.coercion.call(
        ArraySubscripts.constructor(TypeOid.TEXT, steps.size()),
        steps,
        SqlType.of(TypeOid.arrayOf(TypeOid.TEXT)),
        "");
  }

  static boolean isCall(SqlNode node, String name) {
    return node instanceof SqlCall call && call.getOperator().getName().equalsIgnoreCase(name);
  }

  RexNode integer(SqlNode node, Scope scope) {
    RexNode bound = expressions.bind(node, scope);
    RexNode integer =
        expressions.coercion.convert(bound, SqlType.of(TypeOid.INT4), CastContext.ASSIGNMENT);
    if (integer == null) {
      throw context.error(
          ErrorCode.DATATYPE_MISMATCH, "array subscript must have type integer", node);
    }
    return integer;
  }
}
