package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.Coercion;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.array.QuantifiedArrays;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// Binds IN with a list or a query, and comparisons with the elements of an array.
final class MembershipBinder {
  private static final int IN_LIST_MIN = 3;

  private final BindContext context;
  private final Coercion coercion;
  private final ExpressionBinder expressions;

  MembershipBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.coercion = expressions.coercion;
    this.expressions = expressions;
  }

  RexNode in(SqlCall call, Scope scope, boolean negated) {
    RexNode result;
    if (call.operand(1) instanceof SqlNodeList list) {
      result = inList(call, list, scope);
    } else {
      result = expressions.subqueries().in(call, scope);
    }
    return negated ? context.rex.makeCall(SqlStdOperatorTable.NOT, result) : result;
  }

  private RexNode inList(SqlCall call, SqlNodeList list, Scope scope) {
    boolean anyRow = RowComparisons.entries(call.operand(0)) != null;
    for (SqlNode item : list) {
      anyRow |= RowComparisons.entries(item) != null;
    }
    if (anyRow) {
      List<RexNode> alternatives = new ArrayList<>();
      for (SqlNode row : list) {
        alternatives.add(
            expressions.bindComparison(SqlKind.EQUALS, call.operand(0), row, scope, call));
      }
      return alternatives.size() == 1
          ? alternatives.getFirst()
          : context.rex.makeCall(SqlStdOperatorTable.OR, alternatives);
    }
    RexNode value = expressions.bind(call.operand(0), scope);
    List<RexNode> items = new ArrayList<>();
    for (SqlNode item : list) {
      items.add(expressions.bind(item, scope));
    }
    List<SqlType> types = new ArrayList<>();
    types.add(PgType.of(value));
    items.forEach(item -> types.add(PgType.of(item)));
    boolean simple =
        items.size() >= IN_LIST_MIN
            && items.stream()
                .allMatch(item ->
                    Constant.of(item) != null
                        || item instanceof org.apache.calcite.rex.RexDynamicParam);
    if (simple) {
      SqlType common = SqlType.of(coercion.commonType(types, "IN", call).oid());
      List<RexNode> operands = new ArrayList<>();
      operands.add(expressions.calls.argument(value, common.oid(), call.operand(0)));
      for (int i = 0; i < items.size(); i++) {
        operands.add(expressions.calls.argument(items.get(i), common.oid(), list.get(i)));
      }
      return context.rex.makeCall(
          context.types.of(TypeOid.BOOL, true), PgOperators.IN_LIST, operands);
    }
    List<RexNode> terms = new ArrayList<>();
    for (RexNode item : items) {
      terms.add(expressions.calls.comparison(SqlKind.EQUALS, value, item, call));
    }
    return terms.size() == 1
        ? terms.getFirst()
        : context.rex.makeCall(SqlStdOperatorTable.OR, terms);
  }

  /// A value, perhaps without a type, and an array that it is compared with.
  private record Compared(RexNode value, RexNode array) {
    int valueOid() {
      return PgType.oidOf(value);
    }

    int elementOid() {
      return TypeOid.element(PgType.oidOf(array));
    }
  }

  /// `value operator ANY (array)` and `value operator ALL (array)` with an operator of comparison.
  RexNode quantifiedArray(SqlCall call, SqlNodeList operand, Scope scope) {
    SqlQuantifyOperator operator = (SqlQuantifyOperator) call.getOperator();
    boolean any = operator.getKind() == SqlKind.SOME;
    if (operand.size() != 1) {
      throw expressions.unsupported(call, "ANY and ALL of a list");
    }
    Compared compared = compared(call, operand.get(0), scope);
    if (operator.comparisonKind != (any ? SqlKind.EQUALS : SqlKind.NOT_EQUALS)) {
      return quantified(
          Comparison.operator(operator.comparisonKind).getName(), any, compared, call);
    }
    int element = compared.elementOid();
    RexNode value =
        compared.valueOid() == Types.UNKNOWN
            ? expressions.calls.argument(compared.value, element, call.operand(0))
            : compared.value;
    int oid = PgType.oidOf(value);
    // Words of integers are the same in all widths, and a column as it is may have an index.
    if (!Comparison.isInteger(oid) || !Comparison.isInteger(element)) {
      oid = coercion.commonType(List.of(SqlType.of(oid), SqlType.of(element)), "ANY", call).oid();
      Types.requireEquality(oid);
      value = expressions.calls.argument(value, oid, call.operand(0));
    }
    RexNode in =
        context.rex.makeCall(
            context.types.of(TypeOid.BOOL, true),
            PgOperators.IN_ARRAY,
            List.of(value, compared.array));
    return any ? in : context.rex.makeCall(SqlStdOperatorTable.NOT, in);
  }

  /// The same with any other operator, as a call of [Marks#QUANTIFIED_CALL].
  RexNode quantifiedCall(SqlCall call, String name, Scope scope) {
    int end = name.lastIndexOf(' ');
    String operator = name.substring(Marks.QUANTIFIED_CALL.length(), end);
    boolean any = name.substring(end + 1).equals("any");
    return quantified(operator, any, compared(call, call.operand(1), scope), call);
  }

  private Compared compared(SqlCall call, SqlNode arrayNode, Scope scope) {
    RexNode value = expressions.bind(call.operand(0), scope);
    RexNode array = expressions.bind(arrayNode, scope);
    if (PgType.oidOf(array) == Types.UNKNOWN) {
      value = coercion.resolveUnknown(value);
      array = expressions.calls.argument(array, TypeOid.arrayOf(PgType.oidOf(value)), arrayNode);
    }
    Compared compared = new Compared(value, array);
    if (compared.elementOid() == TypeOid.UNSPECIFIED) {
      throw context.error(
          ErrorCode.WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side", call);
    }
    return compared;
  }

  /// An operator that no list of values stands for: it is applied to each element.
  private RexNode quantified(String operator, boolean any, Compared compared, SqlCall call) {
    int[] oids = {compared.valueOid(), compared.elementOid()};
    ScalarFunction function = Functions.resolve(operator, oids);
    if (function == null) {
      throw expressions.calls.noFunction(call, operator, oids);
    }
    if (function.resultOid() != TypeOid.BOOL) {
      throw context.error(
          ErrorCode.WRONG_OBJECT_TYPE,
          "op ANY/ALL (array) requires operator to yield boolean",
          call);
    }
    RexNode converted =
        expressions.calls.argument(compared.value, function.argumentOids()[0], call.operand(0));
    return coercion.call(
        QuantifiedArrays.of(function, PgType.oidOf(compared.array), any),
        List.of(converted, compared.array),
        SqlType.of(TypeOid.BOOL),
        "");
  }
}
