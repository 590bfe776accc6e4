package dev.kakehashi.engine.sql.algebra;

import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// LIMIT or OFFSET without columns and subqueries. Calcite takes literals and parameters only, so it is a parameter to it, the same as
/// another one with the same expression.
public final class CountExpression extends RexDynamicParam {
  public final RexNode expression;

  private CountExpression(RexNode expression) {
    super(expression.getType(), -1);
    this.expression = expression;
    this.digest = "count(" + expression + ")";
  }

  /// Literal or parameter that Calcite takes for an expression.
  static @Nullable RexNode of(@Nullable RexNode expression) {
    return expression == null
            || expression instanceof RexLiteral
            || expression instanceof RexDynamicParam
        ? expression
        : new CountExpression(expression);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CountExpression count && count.expression.equals(expression);
  }

  @Override
  public int hashCode() {
    return expression.hashCode();
  }
}
