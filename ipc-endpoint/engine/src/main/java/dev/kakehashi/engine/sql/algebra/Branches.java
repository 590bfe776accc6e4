package dev.kakehashi.engine.sql.algebra;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// When an expression comes to one of its operands: CASE, COALESCE, AND and OR evaluate what they need, from the left to the right.
public final class Branches {
  private final RexBuilder rex;

  public Branches(RexBuilder rex) {
    this.rex = rex;
  }

  /// Conditions that are all true, each if those before it are, when the call evaluates an operand; empty: it always does.
  ///
  /// @param top whether the call has to be true of a row: its terms are conditions of their own then, of rows that others leave
  public List<RexNode> conditions(RexCall call, int operand, boolean top) {
    List<RexNode> before = call.getOperands().subList(0, operand);
    if (isCase(call)) {
      return ofCase(call, operand);
    }
    if (call.getOperator().equals(PgOperators.COALESCE)) {
      return each(before, SqlStdOperatorTable.IS_NULL);
    }
    return switch (call.getKind()) {
      case AND -> top ? List.of() : each(before, SqlStdOperatorTable.IS_NOT_FALSE);
      case OR -> each(before, SqlStdOperatorTable.IS_NOT_TRUE);
      default -> List.of();
    };
  }

  private static boolean isCase(RexCall call) {
    return call.getKind() == SqlKind.CASE || PgOperators.is(call, PgOperators.CASE);
  }

  /// Operands are condition, value, and so on, and the value of ELSE.
  private List<RexNode> ofCase(RexCall call, int operand) {
    List<RexNode> conditions = new ArrayList<>();
    boolean value = operand % 2 == 1;
    for (int i = 0; i < (value ? operand - 1 : operand); i += 2) {
      conditions.add(rex.makeCall(SqlStdOperatorTable.IS_NOT_TRUE, call.getOperands().get(i)));
    }
    if (value) {
      conditions.add(call.getOperands().get(operand - 1));
    }
    return conditions;
  }

  private List<RexNode> each(List<RexNode> operands, SqlOperator test) {
    return operands.stream().map(operand -> rex.makeCall(test, operand)).toList();
  }

  /// Whether what is computed from such conditions says whether they are true when they are evaluated again.
  public static boolean areRepeatable(List<RexNode> conditions) {
    return conditions.stream()
        .allMatch(each -> RexUtil.isDeterministic(each) && !Inspection.hasSubquery(each));
  }
}
