package dev.kakehashi.engine.sql;

import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlKind;

/// What may be an error for some of the rows that it is evaluated for. Aggregates are taken for what is none, except the one that refuses a second row.
final class Failures {
  private Failures() {}

  /// Whether a row's evaluation may fail.
  static boolean mayFail(RexNode node) {
    boolean[] found = {false};
    node.accept(finder(found));
    return found[0];
  }

  /// Whether the evaluation of a relation may fail.
  static boolean mayFail(RelNode rel) {
    return Inspection.any(rel, Failures::failsItself);
  }

  private static boolean failsItself(RelNode rel) {
    boolean[] found = {
      rel instanceof FunctionRows
          || rel instanceof RecursiveRows
          || CorrelationCost.isSingleValue(rel)
    };
    rel.accept(finder(found));
    return found[0];
  }

  private static RexShuttle finder(boolean[] found) {
    return new RexShuttle() {
      @Override
      public RexNode visitCall(RexCall call) {
        found[0] |= !isTotal(call);
        return super.visitCall(call);
      }

      @Override
      public RexNode visitOver(RexOver over) {
        found[0] = true;
        return over;
      }
    };
  }

  /// Whether it has a value for all operands: comparisons and what is made of truth values.
  private static boolean isTotal(RexCall call) {
    SqlKind kind = call.getKind();
    return SqlKind.COMPARISON.contains(kind)
        || switch (kind) {
          case AND, OR, NOT, IS_NULL, IS_NOT_NULL, CASE -> true;
          case IS_TRUE, IS_NOT_TRUE, IS_FALSE, IS_NOT_FALSE -> true;
          default ->
              PgOperators.isSet(call)
                  || PgOperators.is(call, PgOperators.CASE)
                  || PgOperators.is(call, PgOperators.COALESCE)
                  || call.getOperator() instanceof PgOperators.ConstantOperator;
        };
  }
}
