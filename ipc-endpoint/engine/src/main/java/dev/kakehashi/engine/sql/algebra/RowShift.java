package dev.kakehashi.engine.sql.algebra;

import java.util.function.IntUnaryOperator;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;

/// Expressions over columns at other positions.
public final class RowShift {
  private RowShift() {}

  public static RexNode apply(RexNode node, RexBuilder rex, IntUnaryOperator position) {
    return node.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return rex.makeInputRef(reference.getType(), position.applyAsInt(reference.getIndex()));
          }
        });
  }
}
