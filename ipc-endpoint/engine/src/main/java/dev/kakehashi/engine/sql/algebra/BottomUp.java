package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.vector.Interrupts;
import java.util.function.UnaryOperator;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;

/// Rewrites relations, the lower ones first. Does not go into subqueries of expressions.
public final class BottomUp {
  private BottomUp() {}

  /// @param rewriter of each relation, whose inputs are rewritten by then
  public static RelNode rewrite(RelNode rel, UnaryOperator<RelNode> rewriter) {
    return rel.accept(
        new RelHomogeneousShuttle() {
          @Override
          public RelNode visit(RelNode other) {
            Interrupts.check();
            return rewriter.apply(super.visit(other));
          }
        });
  }
}
