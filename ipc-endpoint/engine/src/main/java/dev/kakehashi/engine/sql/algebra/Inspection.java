package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.vector.Interrupts;
import java.util.function.Predicate;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.jspecify.annotations.Nullable;

/// Questions about algebra.
public final class Inspection {
  private Inspection() {}

  /// Whether an expression contains a subquery.
  public static boolean hasSubquery(RexNode node) {
    return RexUtil.SubQueryFinder.find(node) != null;
  }

  public static boolean hasSubquery(RelNode rel) {
    boolean[] found = {false};
    RexVisitorImpl<@Nullable Void> finder =
        new RexVisitorImpl<>(true) {
          @Override
          public @Nullable Void visitSubQuery(RexSubQuery subQuery) {
            found[0] = true;
            return null;
          }
        };
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        Interrupts.check();
        node.accept(
            new org.apache.calcite.rex.RexShuttle() {
              @Override
              public org.apache.calcite.rex.RexNode visitSubQuery(RexSubQuery subQuery) {
                subQuery.accept(finder);
                return subQuery;
              }
            });
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return found[0];
  }

  public static boolean any(RelNode rel, Predicate<RelNode> sought) {
    return count(rel, sought) > 0;
  }

  public static int count(RelNode rel, Predicate<RelNode> counted) {
    int[] count = {0};
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        Interrupts.check();
        if (counted.test(node)) {
          count[0]++;
        }
        super.visit(node, ordinal, parent);
      }
    }.go(rel);
    return count[0];
  }
}
