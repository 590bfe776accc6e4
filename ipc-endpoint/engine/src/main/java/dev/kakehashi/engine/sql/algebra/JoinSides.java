package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;

/// Joins visited; the sides of a join exchanged, so that the right one is what suits the way it is executed.
public final class JoinSides {
  private JoinSides() {}

  /// A relation with something done to each of its joins, the lower ones first.
  public static RelNode rewrite(RelNode rel, Function<Join, RelNode> rewriter) {
    return BottomUp.rewrite(rel, each -> each instanceof Join join ? rewriter.apply(join) : each);
  }

  /// A condition over left columns followed by right columns, for right columns followed by left columns.
  public static RexNode swapped(RexNode condition, int leftCount, int rightCount) {
    return condition.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            int index = reference.getIndex();
            return new RexInputRef(
                index < leftCount ? index + rightCount : index - leftCount, reference.getType());
          }
        });
  }

  /// The rows of a join that has the right columns first, with the left columns first.
  public static PlanNode swappedBack(PlanNode swapped, int leftCount, int rightCount) {
    List<Expr> order = new ArrayList<>();
    int[] oids = swapped.typeOids();
    for (int i = 0; i < leftCount + rightCount; i++) {
      int index = i < leftCount ? i + rightCount : i - leftCount;
      order.add(new Expr.Column(index, oids[index]));
    }
    return new PlanNode.Project(swapped, order);
  }
}
