package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.RecursiveRows;
import dev.kakehashi.engine.sql.cost.CorrelationCost;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.protocol.TypeOid;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;

/// Expressions and relations whose evaluation may be an error for some rows. Aggregates are taken to cause no error, except the one that
/// refuses a second row.
final class Failures {
  /// Functions, by their PostgreSQL names, that have a result for all arguments.
  private static final Set<String> TOTAL =
      Set.of(
          "=",
          "<>",
          "<",
          "<=",
          ">",
          ">=",
          "||",
          "lower",
          "upper",
          "initcap",
          "reverse",
          "length",
          "char_length",
          "character_length",
          "octet_length",
          "bit_length",
          "btrim",
          "ltrim",
          "rtrim",
          "starts_with");

  /// Functions whose pattern may be invalid.
  private static final Set<String> MATCHES = Set.of("~~", "!~~", "~~*", "!~~*");

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
                  || call.getOperator() instanceof PgOperators.ConstantOperator
                  || call.getOperator() instanceof PgOperators.RelabelOperator
                  || (call.getOperator() instanceof PgOperators.FunctionOperator operator
                      && isTotal(operator.function, call));
        };
  }

  private static boolean isTotal(ScalarFunction function, RexCall call) {
    return TOTAL.contains(function.name())
        || (MATCHES.contains(function.name()) && RexUtil.isConstant(call.getOperands().getLast()))
        || isTotalCast(function);
  }

  /// Whether it is a conversion to a type that has all values of the other, or to text.
  private static boolean isTotalCast(ScalarFunction function) {
    int result = function.resultOid();
    return function.argumentOids().length == 1
        && function.name().equals(Types.name(result))
        && (result == TypeOid.TEXT
            || Casts.find(function.argumentOids()[0], SqlType.of(result), CastContext.IMPLICIT)
                != null);
  }
}
